/* The call tree of a rank: host rows by nesting, GPU rows below their launches (hta/common/trace_call_graph.py, trace_call_stack.py). */
#ifndef CLI_COMPAT_HTA_HTA_TREE_H
#define CLI_COMPAT_HTA_HTA_TREE_H

#include "cli/compat/hta/hta.h"

#define NO_PARENT UINT32_MAX

/* Arrays by position of a row; values are positions. */
struct hta_tree {
	uint32_t *parent;               /* NO_PARENT: a top row of its thread, or in no tree */
	int32_t *depth;                 /* 0: a top row; -1: in no tree */
	uint32_t *first, *next;         /* first child; next sibling, in the order of adding; UINT32_MAX: none */
	uint32_t *last;                 /* last child; valid where first is */
};

/* The tree of one rank.  Returns 0, or -1 when out of memory; hta_tree_release() in any case. */
int hta_tree(const struct hta *h, const struct hta_rank *r, struct hta_tree *t);
void hta_tree_release(struct hta_tree *t);

/* The start or the end of a row. */
struct hta_edge {
	int64_t time, dur;
	uint32_t row;
	bool opens;
};

/*
 * Sorts starts and ends so that rows nest: at one time ends before starts, of starts the longest row first, of ends the shortest row first;
 * rows of no duration are inside the rows that start at that time, or if there are none inside those that end.  0, or -1 when out of memory.
 */
int hta_sort_edges(struct hta_edge *edges, size_t n);

/* hta_pysort.c: sorts as Python's list.sort() does, also when less() is not transitive.  0, or -1 when out of memory. */
int hta_sort_as_python(struct hta_edge *edges, size_t n, bool (*less)(const struct hta_edge *x, const struct hta_edge *y));

/* Rows grouped by thread, threads by pid and tid; the rows of a thread keep their order. */
struct hta_threads {
	uint32_t *rows;                 /* positions */
	size_t *end;                    /* by thread: end of its rows in `rows` */
	size_t n;
};

/*
 * Groups the n rows at these positions (NULL: positions 0 .. n - 1), with tid `from` treated as tid `to`.  Returns false when out of
 * memory; hta_threads_release() in any case.
 */
bool hta_threads(const struct hta_rank *r, const uint32_t *rows, size_t n, int64_t from, int64_t to, struct hta_threads *t);
void hta_threads_release(struct hta_threads *t);

#endif
