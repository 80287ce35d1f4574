/*
 * Clock triples -> trace time.  Trace time is int64 ns on the REALTIME scale of the host at the session's start, carried on by
 * MONOTONIC: a stepped wall clock does not tear the trace.  All conversions are monotone, so nesting is kept.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct clock_row;

struct clock_map {
	struct clock_row *points;       /* sorted by mono; owned */
	size_t n;
	int64_t base;                   /* real - mono at the first point */
	size_t hint;                    /* last segment used */
};

/* Copies the points, in any order.  0, or -1 when out of memory.  No points: every clock is taken as it is. */
int clock_map_init(struct clock_map *m, const struct clock_row *points, size_t n);
void clock_map_release(struct clock_map *m);

/* t on clock (enum wire_clock) in trace time. */
int64_t clock_convert(struct clock_map *m, unsigned clock, int64_t t);

/* The time stamp counter: 8 ns a read where CLOCK_MONOTONIC takes 19 (measured on the machine of the guide). */
static inline uint64_t tsc_now(void)
{
#if defined(__x86_64__)
	uint32_t lo, hi;

	__asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
#else
	return 0;
#endif
}

static inline int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
