/*
 * Converts clocks to trace time.  Trace time is int64 ns: the host's REALTIME at the session's start, advanced by MONOTONIC, so
 * that setting the wall clock during the session does not shift rows.  Conversions are monotone, so nesting is kept.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct clock_row;

/* One linear piece.  For t >= from, up to the next piece: MONOTONIC = min(mono + (t - from) * rate / 2^60, limit). */
struct clock_piece {
	int64_t from, mono, limit;
	int64_t rate;
};

/* Converts one clock to MONOTONIC: pieces sorted by from. */
struct clock_scale {
	struct clock_piece *pieces;
	size_t n;
	int64_t before;                 /* rate for times before the first piece */
	size_t hint;                    /* last piece used */
};

struct clock_map {
	struct clock_row *points;       /* sorted by mono; owned */
	size_t n;
	int64_t base;                   /* real - mono at the first point */
	size_t steps;                   /* number of times the wall clock was set by more than 50 us */
	struct clock_scale tsc, real;
};

/* Builds *m from copies of the points, given in any order.  Without points, conversions return t.  Returns 0, or -1: out of memory. */
int clock_map_init(struct clock_map *m, const struct clock_row *points, size_t n);
void clock_map_release(struct clock_map *m);

/*
 * Converts time t of a clock (enum wire_clock) to trace time.  0 means no time and stays 0.
 *
 * TSC: linear between neighbouring points, at the overall rate beyond them.  REAL: the same between points of one setting of the
 * wall clock.  A step of the wall clock is assumed half-way between the two points around it; if a step back makes a REAL time
 * ambiguous, the later moment is taken.  Monotone, except REAL across a step back.
 *
 * Not thread-safe: changes the `hint`s of *m.
 */
int64_t clock_convert(struct clock_map *m, unsigned clock, int64_t t);

/* clock_convert() for n times, in place.  Thread-safe. */
void clock_convert_all(const struct clock_map *m, unsigned clock, int64_t *times, size_t n);

/* clock_convert() for n starts and their lengths, in place.  Starts and ends are converted, so nested spans stay nested.  Thread-safe. */
void clock_convert_spans(const struct clock_map *m, unsigned clock, int64_t *starts, int64_t *lengths, size_t n);

/* Converts a length without a start, at the overall rate of its clock. */
int64_t clock_span(const struct clock_map *m, unsigned clock, int64_t length);

/* Reads the time stamp counter: 8 ns a read, CLOCK_MONOTONIC takes 19 ns (measured).  0 on processors other than x86-64. */
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

/* Time of a clock in ns. */
static inline int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
