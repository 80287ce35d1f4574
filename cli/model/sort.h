/* Sorting rows by time. */
#ifndef MODEL_SORT_H
#define MODEL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times of a damaged or hand-made file can be any number; these stay at the ends of the scale. */
static inline int64_t time_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

static inline int64_t time_sub(int64_t a, int64_t b)
{
	int64_t difference;

	return __builtin_sub_overflow(a, b, &difference) ? (a > b ? INT64_MAX : INT64_MIN) : difference;
}

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

#endif
