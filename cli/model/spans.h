/*
 * Sets of half-open intervals [time, end) and their arithmetic: when was at least one of these busy, when both, when
 * this and not that.  Pure; what "time" counts is the caller's business.
 */
#ifndef MODEL_SPANS_H
#define MODEL_SPANS_H

#include "cli/model/sort.h"

/*
 * { 0 } is the empty set.  spans_add() may put in anything in any order; everything else wants sets that are in order
 * (sorted, and no two overlap or touch), as spans_union() leaves them, and as all results are.
 */
struct spans {
	struct timed *list;
	size_t n, cap;
	bool oom;
};

/* An interval that ends before it begins, or where it begins, is none. */
void spans_add(struct spans *s, int64_t start, int64_t end);
void spans_clear(struct spans *s);      /* keeps the memory */
void spans_release(struct spans *s);

/* Puts s in order; returns its length, or -1: out of memory (now or before). */
int64_t spans_union(struct spans *s);

/* Moves what is in from into to; both in order, and so is the result.  0, or -1: out of memory. */
int spans_merge(struct spans *to, struct spans *from);

/* The sum of the lengths of a set that is in order. */
int64_t spans_length(const struct spans *s);

/*
 * Out gets what lies in both, or in a and not in b; what it held is gone.  It is neither a nor b.  0, or -1: out of
 * memory.
 */
int spans_intersect(const struct spans *a, const struct spans *b, struct spans *out);
int spans_subtract(const struct spans *a, const struct spans *b, struct spans *out);

/* The length of what lies in both, without making it. */
int64_t spans_common(const struct spans *a, const struct spans *b);

/* How much of [from, to) lies in the set: a binary search, and a step for each interval there. */
int64_t spans_within(const struct spans *s, int64_t from, int64_t to);

#endif
