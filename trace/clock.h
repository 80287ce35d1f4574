/*
 * Clock triples -> trace time.  Trace time is int64 ns on the REALTIME scale of the host at the session's start,
 * carried on by MONOTONIC: a stepped wall clock does not tear the trace.  Conversions are monotone, so nesting is kept.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct clock_row;

/* From `from` on, up to the next piece: mono + (t - from) * rate / 2^60, at most `limit`. */
struct clock_piece {
	int64_t from, mono, limit;
	int64_t rate;
};

/* One clock's way to MONOTONIC: pieces sorted by from. */
struct clock_scale {
	struct clock_piece *pieces;
	size_t n;
	int64_t before;                 /* rate ahead of the first piece */
	size_t hint;                    /* last piece used */
};

struct clock_map {
	struct clock_row *points;       /* sorted by mono; owned */
	size_t n;
	int64_t base;                   /* real - mono at the first point */
	size_t steps;                   /* how often the wall clock was set by more than 50 us */
	struct clock_scale tsc, real;
};

/* Copies the points, in any order.  0, or -1 when out of memory.  No points: every clock is taken as it is. */
int clock_map_init(struct clock_map *m, const struct clock_row *points, size_t n);
void clock_map_release(struct clock_map *m);

/*
 * t on clock (enum wire_clock) in trace time.  0 stays 0: it means no time.
 *
 * TSC goes piecewise linearly between the points and beyond them at the overall rate.  REAL does so between points of
 * one setting of the wall clock; a step is taken to have been half-way between its two points, and where a step back
 * makes a REAL time mean two moments, it is the later one.  Monotone, but for REAL across a step back.
 *
 * Only `hint`s change, so threads use copies of *m.
 */
int64_t clock_convert(struct clock_map *m, unsigned clock, int64_t t);

/* The same for n times in place.  Thread-safe. */
void clock_convert_all(const struct clock_map *m, unsigned clock, int64_t *times, size_t n);

/*
 * The same for n starts and the lengths that belong to them: the ends are converted, so that what lay inside each other
 * still does.
 */
void clock_convert_spans(const struct clock_map *m, unsigned clock, int64_t *starts, int64_t *lengths, size_t n);

/* A length on a clock that is not known to begin anywhere: by the overall rate. */
int64_t clock_span(const struct clock_map *m, unsigned clock, int64_t length);

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
