/* What was called in what, and which kernels came of it (hta/common/trace_call_graph.py, trace_call_stack.py). */
#ifndef ANALYZE_HTA_TREE_H
#define ANALYZE_HTA_TREE_H

#include "cli/analyze/hta.h"

#define NO_PARENT UINT32_MAX

/* By row of a rank: positions. */
struct hta_tree {
	uint32_t *parent;               /* NO_PARENT: a top row of its thread, or in no tree */
	int32_t *depth;                 /* 0: a top row; -1: in no tree */
	uint32_t *first, *next;         /* children, in the order in which they came to it */
	uint32_t *last;
};

/* Of one rank.  0, or -1: out of memory.  hta_tree_release() whatever came. */
int hta_tree(const struct hta *h, const struct hta_rank *r, struct hta_tree *t);
void hta_tree_release(struct hta_tree *t);

/* Begins and ends of rows on one line of time. */
struct hta_edge {
	int64_t time, dur;
	uint32_t row;
	bool opens;
};

/*
 * In the order in which a stack sees them: at one time ends before begins, the longer begins first and the shorter ends
 * first; rows that take no time lie in what begins there, or if nothing does in what ends there.
 */
void hta_sort_edges(struct hta_edge *edges, size_t n);

/* A row and its thread, and the order of them for qsort(): by thread, then row. */
struct hta_member {
	int64_t pid, tid;
	uint32_t tid_text, row;
};
int hta_by_thread(const void *a, const void *b);

#endif
