#include "trace/clock.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/records.h"
#include "trace/wire.h"

#define RATE_BITS 60                    /* rates to 8 ns a tick; the error stays below 1 ns for 2^60 ticks, 36 years of ns */
#define RATE_ONE  ((int64_t)1 << RATE_BITS)
#define RATE_MAX  ((__int128)INT64_MAX)
#define STEP_NS   50000                 /* slewing moves REALTIME by 50 us in 0.1 s at most (500 ppm) */

static int64_t rate_of(int64_t mono, int64_t ticks)
{
	__int128 rate = ((__int128)mono << RATE_BITS) / ticks;

	return (int64_t)(rate > RATE_MAX ? RATE_MAX : rate);
}

/* a * rate, rounded down (also below 0, so that it is monotone across 0); kept within int64. */
static int64_t scaled(int64_t a, int64_t rate)
{
	__int128 v = (__int128)a * rate >> RATE_BITS;

	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static int64_t add(int64_t a, int64_t b)
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
		return add(p[0].mono, scaled(sub(t, p[0].from), s->before));
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
	int64_t mono = add(p[i].mono, scaled(sub(t, p[i].from), p[i].rate));

	return mono < p[i].limit ? mono : p[i].limit;
}

int64_t clock_convert(struct clock_map *m, unsigned clock, int64_t t)
{
	int64_t mono = t;

	if (!t || !m->n || clock == CLOCK_NONE)
		return t;
	if (clock == CLOCK_TSC) {
		if (!m->tsc.n)
			return t;       /* no point has a TSC: nothing is known of it */
		mono = scale_convert(&m->tsc, t);
	} else if (clock == CLOCK_REAL) {
		mono = scale_convert(&m->real, t);
	}
	return add(mono, m->base);
}

int64_t clock_span(const struct clock_map *m, unsigned clock, int64_t length)
{
	return clock == CLOCK_TSC && m->tsc.n ? scaled(length, m->tsc.before) : length;
}

static int by_mono(const void *a, const void *b)
{
	const struct clock_row *x = a, *y = b;

	return x->mono < y->mono ? -1 : x->mono > y->mono;
}

/* Takes the points whose TSC goes forward; a host without a usable one has zeros. */
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

/* A later piece rules from its beginning on: those of the time before a step back end there. */
static void push(struct clock_scale *s, int64_t from, int64_t mono)
{
	while (s->n && s->pieces[s->n - 1].from >= from)
		s->n--;
	s->pieces[s->n++] = (struct clock_piece){ from, mono, INT64_MAX, RATE_ONE };
}

/* Between two points without a step: linear.  With one: the old offset up to the middle, the new one from there. */
static bool build_real(struct clock_scale *s, const struct clock_row *a, const struct clock_row *b)
{
	int64_t mono = sub(b->mono, a->mono), real = sub(b->real, a->real), change = sub(real, mono), middle;
	struct clock_piece *last = s->pieces + s->n - 1;

	if (real > 0 && change <= STEP_NS && change >= -STEP_NS) {
		last->rate = rate_of(mono, real);
		last->limit = b->mono;
		push(s, b->real, b->mono);
		return false;
	}
	middle = a->mono + mono / 2;
	last->limit = middle;
	push(s, sub(b->real, b->mono - middle), middle);
	if (s->pieces[s->n - 1].from < b->real)
		s->pieces[s->n - 1].limit = b->mono;
	push(s, b->real, b->mono);
	return true;
}

int clock_map_init(struct clock_map *m, const struct clock_row *points, size_t n)
{
	*m = (struct clock_map){ 0 };
	if (!n)
		return 0;
	m->points = malloc(n * sizeof *points);
	m->tsc.pieces = malloc(n * sizeof *m->tsc.pieces);
	m->real.pieces = malloc(2 * n * sizeof *m->real.pieces);        /* a step takes two */
	if (!m->points || !m->tsc.pieces || !m->real.pieces) {
		clock_map_release(m);
		return -1;
	}
	memcpy(m->points, points, n * sizeof *points);
	qsort(m->points, n, sizeof *points, by_mono);
	m->n = 1;
	for (size_t i = 1; i < n; i++)
		if (m->points[i].mono != m->points[m->n - 1].mono)
			m->points[m->n++] = m->points[i];
	m->base = sub(m->points->real, m->points->mono);
	build_tsc(&m->tsc, m->points, m->n);
	push(&m->real, m->points->real, m->points->mono);
	m->real.before = RATE_ONE;
	for (size_t i = 1; i < m->n; i++)
		m->steps += build_real(&m->real, &m->points[i - 1], &m->points[i]);
	return 0;
}

void clock_map_release(struct clock_map *m)
{
	free(m->points);
	free(m->tsc.pieces);
	free(m->real.pieces);
	*m = (struct clock_map){ 0 };
}
