/*
 * The graph of a critical path (hta/analyzers/critical_path_analysis.py): nodes are begins and ends of events, edges say
 * what had to wait for what, and how long that took.
 */
#ifndef ANALYZE_HTA_GRAPH_H
#define ANALYZE_HTA_GRAPH_H

#include "cli/analyze/hta.h"

enum hta_edge_type { EDGE_OPERATOR, EDGE_DEPENDENCY, EDGE_LAUNCH_DELAY, EDGE_KERNEL_DELAY, EDGE_SYNC, EDGE_TYPES };
extern const char *const hta_edge_words[EDGE_TYPES];

#define NO_NODE UINT32_MAX

struct hta_node {
	int64_t ts;
	uint32_t row;                   /* position */
	bool start;
	bool there;                     /* some edge has it */
	uint32_t first_out, last_out, first_in, last_in;        /* edges; NO_NODE: none */
};

struct hta_dependency {
	uint32_t from, to;
	uint32_t next_out, next_in;     /* in the order in which they came */
	enum hta_edge_type type;
	uint32_t of;                    /* position of the row whose time it is; NO_NODE: of none */
	int64_t weight;
};

struct hta_graph {
	const struct hta *h;
	const struct hta_rank *r;
	struct hta_node *nodes;         /* by time, index, begins first */
	size_t n_nodes;
	struct hta_dependency *edges;
	size_t n_edges, cap_edges;
	struct map places;              /* from << 32 | to -> position in edges */
	uint32_t *order;                /* nodes that are there, in the order in which they came */
	size_t n_order;
	uint32_t *start_of, *end_of;    /* by row: its nodes, NO_NODE: none */
	bool oom;
	/* hta_longest_path() */
	uint32_t *path;                 /* edges, from the first */
	size_t n_path;
	int64_t length;
};

/*
 * A later edge between the same two nodes takes the place of an earlier one.  free_of_charge: its time counts nothing.
 * Its position.
 */
uint32_t hta_depend(struct hta_graph *g, uint32_t from, uint32_t to, enum hta_edge_type type, bool free_of_charge);

/* Says whose time an edge is; around: the row around both, if neither says it. */
void hta_attribute(struct hta_graph *g, uint32_t edge, uint32_t around);

/* 0, or -1: out of memory. */
int hta_longest_path(struct hta_graph *g);
void hta_graph_release(struct hta_graph *g);

/* hta_calls.c: edges of calls that take CUDA's lock, and of each thread.  0, or -1: out of memory. */
int hta_lock_edges(struct hta_graph *g);
int hta_stack_edges(struct hta_graph *g, const uint32_t *rows, size_t n);

/* hta_waits.c: edges of what ran on GPUs and of who waited for it.  rows: those in question, by index. */
int hta_gpu_edges(struct hta_graph *g, const uint32_t *rows, size_t n);

#endif
