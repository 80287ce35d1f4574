/* Trees of operators, with the GPU events that each started, by the plugin's rules (op_tree.py, node.py of torch_tb_profiler). */
#ifndef CLI_COMPAT_TB_TB_TREE_H
#define CLI_COMPAT_TB_TB_TREE_H

#include "cli/compat/tb/tb.h"

/* An operator, a step, a module, a loader, a collective, or the root of a thread. */
struct tb_node {
	uint32_t event;                 /* TB_NONE: a root */
	uint32_t parent, first, last, next;     /* first and last child; next sibling; TB_NONE: none */
	uint32_t calls;                 /* the first of its own calls; TB_NONE: none */
	bool gone;                      /* folded into its parent of the same name */
	bool eligible;                  /* it or a node below it can use tensor cores */
	int64_t start, end;             /* of a root: start of its first child, end of its last child */
	int64_t host_self;              /* ns without children and own calls */
	int64_t device, device_self;    /* ns of the GPU events that it started; device: with its children */
	int64_t tensor, tensor_self;    /* the part of these in kernels that use tensor cores */
};

struct tb_tree {
	struct tb_node *nodes;          /* by thread; parents before their children */
	size_t n;
	uint32_t *call_next;            /* by call: the next call of its node; TB_NONE: none */
	uint32_t *call_node;            /* by call: the node that made it; TB_NONE: not known */
	uint32_t *roots, *tids;         /* by thread, in order of their first event */
	size_t n_roots;
	uint32_t *operators;            /* nodes with tb_is_operator(), children before their parents */
	size_t n_operators;
	size_t crossing;                /* number of events left out because they overlap others of their thread without nesting */
};

/* The tree of a run, made at the first call; owned by the run.  NULL: out of memory. */
const struct tb_tree *tb_tree_of(struct tb_run *r);

/* Returns 0, or -1 when out of memory; tb_tree_release() in any case. */
int tb_tree_make(struct tb_tree *t, const struct tb_run *r);
void tb_tree_release(struct tb_tree *t);

/* Whether a node is an operator that the plugin's tables list. */
bool tb_is_operator(const struct tb_run *r, const struct tb_node *n);

/*
 * Of the kernels that operators started, the share of time in kernels that use tensor cores, in percent; NAN: operators started none.
 * kernels[n].row: events.
 */
double tb_tensor_share(const struct tb_tree *t, const struct tb_run *r, const struct timed *kernels, size_t n);

/* Share (0 .. 1) of the operators' kernel time that is started by operators that can use tensor cores; NAN: no kernel time. */
double tb_eligible_share(const struct tb_tree *t, const struct tb_run *r);

/* The node that started a GPU event; TB_NONE: not known. */
static inline uint32_t tb_node_of(const struct tb_tree *t, const struct tb_event *e)
{
	return tb_is_gpu(e) && e->link != TB_NONE ? t->call_node[e->link] : TB_NONE;
}

#endif
