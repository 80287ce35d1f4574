/* Sets of half-open intervals [time, end): union, intersection, difference.  The caller defines the unit of time. */
#ifndef MODEL_SPANS_H
#define MODEL_SPANS_H

#include "cli/model/sort.h"

/*
 * A set; { 0 } is empty.  spans_add() accepts any order and overlap.  All other functions need sets "in order": sorted, no two intervals
 * overlap or touch.  spans_union() puts a set in order, and all results are in order.
 */
struct spans {
	struct timed *list;
	size_t n, cap;
	bool oom;
};

/* Adds an interval; nothing if end <= start.  Out of memory sets s->oom. */
void spans_add(struct spans *s, int64_t start, int64_t end);
void spans_clear(struct spans *s);      /* empties the set, keeps its memory */
void spans_release(struct spans *s);

/* Puts s in order; returns its length, or -1: out of memory (now or before). */
int64_t spans_union(struct spans *s);

/* Merges `from` into `to`, both in order, and empties `from`.  0, or -1: out of memory. */
int spans_merge(struct spans *to, struct spans *from);

/* Sum of the lengths of all intervals. */
int64_t spans_length(const struct spans *s);

/* Sets *out to the intersection of a and b, or to a without b.  out must be neither a nor b.  0, or -1: out of memory. */
int spans_intersect(const struct spans *a, const struct spans *b, struct spans *out);
int spans_subtract(const struct spans *a, const struct spans *b, struct spans *out);

/* Length of the intersection. */
int64_t spans_common(const struct spans *a, const struct spans *b);

/* Whether a time lies in the set. */
bool spans_have(const struct spans *s, int64_t time);

/* Length of the part of [from, to) in the set.  Time: a binary search and one step per interval in [from, to). */
int64_t spans_within(const struct spans *s, int64_t from, int64_t to);

#endif
