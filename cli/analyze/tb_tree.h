/*
 * Which operator ran inside of which, and what each started on the GPU, by the plugin's rules (op_tree.py, node.py of
 * torch_tb_profiler).
 */
#ifndef ANALYZE_TB_TREE_H
#define ANALYZE_TB_TREE_H

#include "cli/analyze/tb.h"

/* An operator, a step, a module, a loader, a collective, or the root of a thread. */
struct tb_node {
	uint32_t event;                 /* TB_NONE: a root */
	uint32_t parent, first, last, next;     /* its children, in order; TB_NONE: none */
	uint32_t calls;                 /* the first of its own calls; TB_NONE: none */
	bool gone;                      /* folded into its parent, which has its name */
	bool eligible;                  /* may use tensor cores, or something in it may */
	int64_t start, end;             /* of a root: from its first child's begin to its last one's end */
	int64_t host_self;              /* without children and own calls */
	int64_t device, device_self;    /* what it and its children started; itself */
	int64_t tensor, tensor_self;    /* of these, kernels that use tensor cores */
};

struct tb_tree {
	struct tb_node *nodes;          /* a thread after the other; each before its children */
	size_t n;
	uint32_t *call_next;            /* by call: the next one of its node */
	uint32_t *call_node;            /* by call: the node that made it, TB_NONE: nobody knows */
	uint32_t *roots, *tids;         /* of threads, in order of their first event */
	size_t n_roots;
	uint32_t *operators;            /* nodes that its tables list, children before their parents */
	size_t n_operators;
	size_t crossing;                /* events that overlap others of their thread without lying inside: left out */
};

/* The run's, made when first asked for, and its own.  NULL: out of memory. */
const struct tb_tree *tb_tree_of(struct tb_run *r);

/* 0, or -1: out of memory.  tb_tree_release() in both cases. */
int tb_tree_make(struct tb_tree *t, const struct tb_run *r);
void tb_tree_release(struct tb_tree *t);

/* A node that its tables list. */
bool tb_is_operator(const struct tb_run *r, const struct tb_node *n);

/* Share of time on tensor cores of what operators started on a device, in percent; NAN: they started nothing. */
double tb_tensor_share(const struct tb_tree *t, const struct tb_run *r, int32_t device);

/* Share of the operators' kernel time that operators started which may use tensor cores; NAN: no kernel time. */
double tb_eligible_share(const struct tb_tree *t, const struct tb_run *r);

/* The node that a GPU event was started from, TB_NONE: nobody knows. */
static inline uint32_t tb_node_of(const struct tb_tree *t, const struct tb_event *e)
{
	return tb_is_gpu(e) && e->link != TB_NONE ? t->call_node[e->link] : TB_NONE;
}

#endif
