#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")              /* gcc 12 leaves loops of unknown length scalar at -O2; clang does not */
#endif

#include "trace/clock.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/records.h"
#include "trace/wire.h"

#define RATE_BITS 60                    /* rates up to 8 ns a tick; error below 1 ns for 2^60 ticks (36 years of ns) */
#define RATE_ONE  ((int64_t)1 << RATE_BITS)
#define RATE_MAX  ((__int128)INT64_MAX)
#define STEP_NS   50000                 /* slewing moves REALTIME by 50 us in 0.1 s at most (500 ppm) */
#define TAIL_NS   1000000000            /* longest time of rows after the last point, in a file that was cut */

static int64_t rate_of(int64_t mono, int64_t ticks)
{
	__int128 rate = ((__int128)mono << RATE_BITS) / ticks;

	return (int64_t)(rate > RATE_MAX ? RATE_MAX : rate);
}

/* a * rate, rounded down (below 0 too, to be monotone across 0) and clamped to int64. */
static int64_t scaled(int64_t a, int64_t rate)
{
	__int128 v = (__int128)a * rate >> RATE_BITS;

	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static int64_t saturated_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static int64_t sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a > b ? INT64_MAX : INT64_MIN;
	return difference;
}

static int64_t scale_convert(struct clock_scale *s, int64_t t)
{
	const struct clock_piece *p = s->pieces;
	size_t i = s->hint, low = 0, high = s->n;

	if (t < p[0].from)
		return saturated_sum(p[0].mono, scaled(sub(t, p[0].from), s->before));
	if (t < p[i].from || (i + 1 < s->n && t >= p[i + 1].from)) {
		while (high - low > 1) {
			size_t mid = low + (high - low) / 2;

			if (p[mid].from <= t)
				low = mid;
			else
				high = mid;
		}
		s->hint = i = low;
	}
	int64_t mono = saturated_sum(p[i].mono, scaled(sub(t, p[i].from), p[i].rate));

	return mono < p[i].limit ? mono : p[i].limit;
}

int64_t clock_convert(struct clock_map *m, unsigned clock, int64_t t)
{
	int64_t mono = t;

	if (!t || !m->n || clock == CLOCK_NONE)
		return t;
	if (clock == CLOCK_TSC) {
		if (!m->tsc.n)
			return t;       /* no point has a TSC: not convertible */
		mono = scale_convert(&m->tsc, t);
	} else if (clock == CLOCK_REAL) {
		mono = scale_convert(&m->real, t);
	}
	return saturated_sum(mono, m->base);
}

/* The piece of the last conversion, with the base added.  Most times of a column lie in the same piece as the time before. */
struct fit_window {
	int64_t from, end, time, limit, rate;
};

static int64_t convert_outside(struct clock_map *m, struct clock_scale *s, unsigned clock, struct fit_window *w, int64_t t)
{
	int64_t time = clock_convert(m, clock, t);

	if (t && s && s->hint + 1 < s->n && t >= s->pieces[s->hint].from && t < s->pieces[s->hint + 1].from) {
		const struct clock_piece *p = &s->pieces[s->hint];

		*w = (struct fit_window){ p->from, p[1].from, saturated_sum(p->mono, m->base), saturated_sum(p->limit, m->base), p->rate };
	}
	return time;
}

static inline int64_t convert_near(struct clock_map *m, struct clock_scale *s, unsigned clock, struct fit_window *w,
				   int64_t t)
{
	if (t < w->from || t >= w->end)
		return convert_outside(m, s, clock, w, t);
	int64_t time = w->time + (int64_t)((__int128)(t - w->from) * w->rate >> RATE_BITS);

	return time < w->limit ? time : w->limit;
}

/* Scale of the clock; NULL: MONOTONIC or none, which need only the base. */
static struct clock_scale *scale_of(struct clock_map *m, unsigned clock)
{
	return clock == CLOCK_TSC ? &m->tsc : clock == CLOCK_REAL ? &m->real : NULL;
}

/* ---- blocks of times that all lie in the window, converted without branches; results as of clock_convert() ---- */

#define BLOCK     64u
#define HALF_RATE 31            /* bits of the lower half of a rate below 2^61, so that no product exceeds 2^63 */

/* Bit 63 of the result is set if the difference is not in [0, width). */
static inline uint64_t beyond(uint64_t width, uint64_t difference)
{
	return difference | (width - 1 - difference);
}

static inline uint64_t scaled_inside(uint64_t a, uint64_t low, uint64_t high)
{
	return (a * high + (a * low >> HALF_RATE)) >> (RATE_BITS - HALF_RATE);
}

/* Whether no time in the window reaches the limit and all products fit in 64 bits. */
static bool is_simple(const struct fit_window *w)
{
	uint64_t width = (uint64_t)w->end - (uint64_t)w->from;

	return w->from > 0 && w->end > w->from && width <= UINT32_MAX && w->rate >= 0 && w->rate < RATE_ONE * 2 &&
	       saturated_sum(w->time, scaled((int64_t)width - 1, w->rate)) <= w->limit && w->limit < INT64_MAX;
}

static bool block_convert(const struct fit_window *w, int64_t *times, size_t n)
{
	const uint64_t from = (uint64_t)w->from, width = (uint64_t)w->end - from, to = (uint64_t)w->time;
	const uint64_t low = (uint64_t)w->rate & ((1u << HALF_RATE) - 1), high = (uint64_t)w->rate >> HALF_RATE;
	uint64_t *t = (uint64_t *)times, outside = 0;

	for (size_t i = 0; i < n; i++)
		outside |= beyond(width, t[i] - from);
	if (outside >> 63)
		return false;
	if (w->rate == RATE_ONE)
		for (size_t i = 0; i < n; i++)
			t[i] += to - from;
	else
		for (size_t i = 0; i < n; i++)
			t[i] = to + scaled_inside(t[i] - from, low, high);
	return true;
}

static bool block_convert_spans(const struct fit_window *w, int64_t *starts, int64_t *lengths, size_t n)
{
	const uint64_t from = (uint64_t)w->from, width = (uint64_t)w->end - from, to = (uint64_t)w->time;
	const uint64_t low = (uint64_t)w->rate & ((1u << HALF_RATE) - 1), high = (uint64_t)w->rate >> HALF_RATE;
	uint64_t *restrict t = (uint64_t *)starts, *restrict l = (uint64_t *)lengths, outside = 0;

	for (size_t i = 0; i < n; i++)
		outside |= beyond(width, t[i] - from) | beyond(width, t[i] + l[i] - from);
	if (outside >> 63)
		return false;
	if (w->rate == RATE_ONE) {
		for (size_t i = 0; i < n; i++)
			t[i] += to - from;
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t start = scaled_inside(t[i] - from, low, high);

		l[i] = scaled_inside(t[i] + l[i] - from, low, high) - start;
		t[i] = to + start;
	}
	return true;
}

void clock_convert_all(const struct clock_map *m, unsigned clock, int64_t *times, size_t n)
{
	struct clock_map own = *m;
	struct clock_scale *s = scale_of(&own, clock);
	struct fit_window w = { 0 };

	for (size_t i = 0, block; i < n; i += block) {
		block = n - i < BLOCK ? n - i : BLOCK;
		if (is_simple(&w) && block_convert(&w, times + i, block))
			continue;
		for (size_t k = i; k < i + block; k++)
			times[k] = convert_near(&own, s, clock, &w, times[k]);
	}
}

static void convert_span(struct clock_map *m, struct clock_scale *s, unsigned clock, struct fit_window *w,
			 struct fit_window *ends, int64_t *start, int64_t *length)
{
	int64_t to = (int64_t)((uint64_t)*start + (uint64_t)*length), from = convert_near(m, s, clock, w, *start);

	if (*start)
		*length = (int64_t)((uint64_t)convert_near(m, s, clock, ends, to) - (uint64_t)from);
	else
		*length = clock_span(m, clock, *length);
	*start = from;
}

void clock_convert_spans(const struct clock_map *m, unsigned clock, int64_t *starts, int64_t *lengths, size_t n)
{
	struct clock_map own = *m;
	struct clock_scale *s = scale_of(&own, clock);
	struct fit_window w = { 0 }, ends = { 0 };

	for (size_t i = 0, block; i < n; i += block) {
		block = n - i < BLOCK ? n - i : BLOCK;
		if (is_simple(&w) && block_convert_spans(&w, starts + i, lengths + i, block))
			continue;
		for (size_t k = i; k < i + block; k++)
			convert_span(&own, s, clock, &w, &ends, &starts[k], &lengths[k]);
	}
}

int64_t clock_span(const struct clock_map *m, unsigned clock, int64_t length)
{
	__int128 ns = ((__int128)length * m->tsc.before + RATE_ONE / 2) >> RATE_BITS;   /* to the nearest */

	return clock == CLOCK_TSC && m->tsc.n ? (int64_t)ns : length;
}

static int by_mono(const void *a, const void *b)
{
	const struct clock_row *x = a, *y = b;

	return x->mono < y->mono ? -1 : x->mono > y->mono;
}

/* Builds the scale from the points whose TSC increases; on a host without a usable TSC all are 0. */
static void build_tsc(struct clock_scale *s, const struct clock_row *points, size_t n)
{
	struct clock_piece *last;
	int64_t overall = RATE_ONE;

	for (size_t i = 0; i < n; i++) {
		int64_t tsc = (int64_t)points[i].tsc, mono = points[i].mono;

		last = s->pieces + s->n - 1;
		if (tsc <= 0 || (s->n && tsc <= last->from))
			continue;
		if (s->n) {
			last->rate = rate_of(sub(mono, last->mono), sub(tsc, last->from));
			last->limit = mono;
		}
		s->pieces[s->n++] = (struct clock_piece){ .from = tsc, .mono = mono, .limit = INT64_MAX };
	}
	if (!s->n)
		return;
	last = s->pieces + s->n - 1;
	if (s->n > 1)
		overall = rate_of(sub(last->mono, s->pieces->mono), sub(last->from, s->pieces->from));
	last->rate = s->before = overall;
}

/* An era: the points [first, last] between two settings of the wall clock, and its begin and end as REAL and MONO times. */
struct era {
	const struct clock_row *first, *last;
	int64_t real_start, real_end, mono_start, mono_end;
};

static bool is_step(const struct clock_row *a, const struct clock_row *b)
{
	int64_t real = sub(b->real, a->real), change = sub(real, sub(b->mono, a->mono));

	return real <= 0 || change > STEP_NS || change < -STEP_NS;
}

/* The era that begins at point i.  A setting of the clock is assumed half-way between the two points around it. */
static struct era era_at(const struct clock_row *points, size_t n, size_t i)
{
	struct era e = { points + i, points + i, points[i].real, INT64_MAX, points[i].mono, INT64_MAX };

	while (e.last + 1 < points + n && !is_step(e.last, e.last + 1))
		e.last++;
	if (i) {
		e.mono_start -= (e.first->mono - e.first[-1].mono) / 2;
		e.real_start = sub(e.first->real, e.first->mono - e.mono_start);
	}
	if (e.last + 1 < points + n) {
		e.mono_end = e.last[1].mono - (e.last[1].mono - e.last->mono) / 2;
		e.real_end = saturated_sum(e.last->real, e.mono_end - e.last->mono);
	} else {
		e.real_end = saturated_sum(e.last->real, TAIL_NS);
	}
	return e;
}

/* Writes the pieces of an era, at most one more than it has points; returns their number. */
static size_t era_pieces(const struct era *e, struct clock_piece *p)
{
	size_t n = 0;

	if (e->real_start < e->first->real)
		p[n++] = (struct clock_piece){ e->real_start, e->mono_start, e->first->mono, RATE_ONE };
	for (const struct clock_row *r = e->first; r < e->last; r++)
		p[n++] = (struct clock_piece){ r->real, r->mono, r[1].mono,
					       rate_of(r[1].mono - r->mono, r[1].real - r->real) };
	p[n++] = (struct clock_piece){ e->last->real, e->last->mono, e->mono_end, RATE_ONE };
	return n;
}

/*
 * Replaces the pieces of earlier eras between the begin and end of era e by its own n_own pieces.  If earlier eras reach beyond its end
 * (the clock was set back by more than the era's length), they continue behind it, with one more piece.
 */
static void lay_over(struct clock_scale *s, struct clock_piece *own, size_t n_own, const struct era *e, int64_t covered)
{
	struct clock_piece resumed;
	size_t keep = s->n, rest = s->n;

	while (keep && s->pieces[keep - 1].from >= e->real_start)
		keep--;
	while (rest && s->pieces[rest - 1].from > e->real_end)
		rest--;
	if (covered <= e->real_end)
		rest = s->n;
	if (covered > e->real_end && rest) {
		resumed = s->pieces[rest - 1];
		resumed.mono = scale_convert(&(struct clock_scale){ s->pieces, s->n, RATE_ONE, 0 }, e->real_end);
		resumed.from = e->real_end;
		own[n_own++] = resumed;
	}
	memmove(s->pieces + keep + n_own, s->pieces + rest, (s->n - rest) * sizeof *s->pieces);
	memcpy(s->pieces + keep, own, n_own * sizeof *own);
	s->n = keep + n_own + s->n - rest;
}

static int build_real(struct clock_map *m)
{
	struct clock_scale *s = &m->real;
	struct clock_piece *own;
	int64_t covered = INT64_MIN;

	for (size_t i = 1; i < m->n; i++)
		m->steps += is_step(&m->points[i - 1], &m->points[i]);
	s->pieces = malloc((m->n + 2 * (m->steps + 1)) * sizeof *s->pieces);
	own = malloc((m->n + 2) * sizeof *own);
	if (s->pieces && own) {
		s->before = RATE_ONE;
		for (size_t i = 0; i < m->n; ) {
			struct era e = era_at(m->points, m->n, i);

			lay_over(s, own, era_pieces(&e, own), &e, covered);
			covered = covered > e.real_end ? covered : e.real_end;
			i = (size_t)(e.last - m->points) + 1;
		}
	}
	free(own);
	return s->n ? 0 : -1;
}

/* Copies the points: sorted, one per moment, without values beyond 2^62 ns (the year 2116), so that differences cannot overflow. */
static void take_points(struct clock_map *m, const struct clock_row *points, size_t n)
{
	const int64_t limit = (int64_t)1 << 62;
	size_t sane = 0;

	for (size_t i = 0; i < n; i++)
		if (points[i].mono >= 0 && points[i].mono < limit && points[i].real >= 0 && points[i].real < limit)
			m->points[sane++] = points[i];
	qsort(m->points, sane, sizeof *m->points, by_mono);
	for (size_t i = 0; i < sane; i++)
		if (!m->n || m->points[i].mono != m->points[m->n - 1].mono)
			m->points[m->n++] = m->points[i];
}

int clock_map_init(struct clock_map *m, const struct clock_row *points, size_t n)
{
	*m = (struct clock_map){ 0 };
	if (!n)
		return 0;
	m->points = malloc(n * sizeof *points);
	m->tsc.pieces = malloc(n * sizeof *m->tsc.pieces);
	if (!m->points || !m->tsc.pieces) {
		clock_map_release(m);
		return -1;
	}
	take_points(m, points, n);
	if (!m->n)
		return 0;
	m->base = sub(m->points->real, m->points->mono);
	build_tsc(&m->tsc, m->points, m->n);
	if (build_real(m) < 0) {
		clock_map_release(m);
		return -1;
	}
	return 0;
}

void clock_map_release(struct clock_map *m)
{
	free(m->points);
	free(m->tsc.pieces);
	free(m->real.pieces);
	*m = (struct clock_map){ 0 };
}
