/* Sorting rows by time, and unions of intervals. */
#ifndef MODEL_SORT_H
#define MODEL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sixteen bytes, sorted by the first eight. */
struct timed {
	int64_t time;
	union {
		int64_t end;
		struct { uint32_t kind, row; };
	};
};

/* Stable and linear; a sorted array costs one look.  0, or -1: out of memory. */
int timed_sort(struct timed *p, size_t n);

/* Half-open intervals [time, end).  { 0 } is none. */
struct spans {
	struct timed *list;
	size_t n, cap;
	bool oom;
};

void spans_add(struct spans *s, int64_t start, int64_t end);
void spans_release(struct spans *s);

/* Sorts and melts overlapping and touching ones; returns the length of the union, or -1: out of memory (now or before). */
int64_t spans_union(struct spans *s);

#endif
