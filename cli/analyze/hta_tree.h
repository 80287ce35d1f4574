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

/* hta_pysort.c: as Python sorts a list, whatever less() says.  False: no memory, and nothing is sorted. */
bool hta_sort_as_python(struct hta_edge *edges, size_t n, bool (*less)(const struct hta_edge *x, const struct hta_edge *y));

/* Rows of one thread after the other, in the order of pid and tid; each thread's in the order in which they were given. */
struct hta_threads {
	uint32_t *rows;                 /* positions */
	size_t *end;                    /* by thread: where its rows end */
	size_t n;
};

/*
 * Of the rows at these positions (NULL: the first n), as if the thread `from` were `to`.  False: out of memory.
 * hta_threads_release() whatever came.
 */
bool hta_threads(const struct hta_rank *r, const uint32_t *rows, size_t n, int64_t from, int64_t to, struct hta_threads *t);
void hta_threads_release(struct hta_threads *t);

#endif
