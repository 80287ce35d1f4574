/* Sorts rows by time; arithmetic with times that cannot overflow. */
#ifndef MODEL_SORT_H
#define MODEL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sum and difference clamped to int64: a damaged or hand-made file may contain any times. */
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

/* A time and its row (or the end of an interval); 16 bytes, sorted by the first 8. */
struct timed {
	int64_t time;
	union {
		int64_t end;
		struct { uint32_t kind, row; };
	};
};

/* Stable radix sort by time in linear time; one pass if already sorted.  0, or -1: out of memory. */
int timed_sort(struct timed *p, size_t n);

#endif
