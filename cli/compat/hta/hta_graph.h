/*
 * The graph of a critical path (hta/analyzers/critical_path_analysis.py): nodes are starts and ends of events; an edge goes from a node to
 * one that had to wait for it, and its weight is the time between them.
 */
#ifndef CLI_COMPAT_HTA_HTA_GRAPH_H
#define CLI_COMPAT_HTA_HTA_GRAPH_H

#include "cli/compat/hta/hta.h"

enum hta_edge_type { EDGE_OPERATOR, EDGE_DEPENDENCY, EDGE_LAUNCH_DELAY, EDGE_KERNEL_DELAY, EDGE_SYNC, EDGE_TYPES };
extern const char *const hta_edge_words[EDGE_TYPES];

#define NO_NODE UINT32_MAX

struct hta_node {
	int64_t ts;
	uint32_t row;                   /* position */
	bool start;
	bool there;                     /* it has an edge */
	uint32_t first_out, last_out, first_in, last_in;        /* edges; NO_NODE: none */
};

struct hta_dependency {
	uint32_t from, to;
	uint32_t next_out, next_in;     /* next edge of the same node, in the order of adding; NO_NODE: none */
	enum hta_edge_type type;
	uint32_t of;                    /* position of the row that the time belongs to; NO_NODE: none */
	int64_t weight;                 /* ns */
};

struct hta_graph {
	const struct hta *h;
	const struct hta_rank *r;
	struct hta_node *nodes;         /* by time, then by index, starts before ends */
	size_t n_nodes;
	struct hta_dependency *edges;
	size_t n_edges, cap_edges;
	struct map places;              /* from << 32 | to -> position in edges */
	uint32_t *order;                /* nodes with an edge, in the order of their first edge */
	size_t n_order;
	uint32_t *start_of, *end_of;    /* by position of a row: its nodes; NO_NODE: none */
	size_t context_waits;           /* waits for a whole context that got an edge from one stream only: too many streams */
	bool oom;
	/* Set by hta_longest_path(). */
	uint32_t *path;                 /* edges, first to last */
	size_t n_path;
	int64_t length;                 /* sum of their weights, ns */
};

/*
 * Adds an edge; an edge between the same two nodes gets the new type and weight instead.  free_of_charge: weight 0, as for EDGE_DEPENDENCY
 * and EDGE_SYNC.  Returns the position of the edge; NO_NODE when out of memory (g->oom).
 */
uint32_t hta_depend(struct hta_graph *g, uint32_t from, uint32_t to, enum hta_edge_type type, bool free_of_charge);

/* Sets edges[edge].of.  around: the row around both nodes, used when neither node's row has the time.  edge NO_NODE: does nothing. */
void hta_attribute(struct hta_graph *g, uint32_t edge, uint32_t around);

/* Returns 0, or -1 when out of memory; hta_graph_release() in any case. */
int hta_longest_path(struct hta_graph *g);
void hta_graph_release(struct hta_graph *g);

/*
 * hta_calls.c: edges between calls that take CUDA's lock; edges within each thread.  rows: positions of the rows of the path's part, by
 * index. Return 0, or -1 when out of memory.
 */
int hta_lock_edges(struct hta_graph *g);
int hta_stack_edges(struct hta_graph *g, const uint32_t *rows, size_t n);

/* hta_waits.c: edges from and to GPU rows.  rows and result as for hta_stack_edges(). */
int hta_gpu_edges(struct hta_graph *g, const uint32_t *rows, size_t n);

#endif
