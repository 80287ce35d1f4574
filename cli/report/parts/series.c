/* The values of a series: storage in blocks and histograms, sums, median by radix selection. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")              /* gcc 12 leaves loops of unknown length scalar at -O2; clang does not */
#endif

#include "cli/report/parts/stats.h"

#include <string.h>

#include "trace/grow.h"

/* Values in the first block of a series, and in the largest (2 KiB); each block has four times the values of the one before it.  The blocks
 * that some hundred series are filling stay in the cache. */
#define FIRST_VALUES 30u
#define MOST_VALUES  504u
#define COUNT_FROM   4096u      /* least number of values for a histogram; with fewer it saves little memory */
#define SAMPLE       12u        /* densest() looks at every 12th value */
#define MOST_WIDTH   (1u << 24) /* counters of one histogram */
#define MOST_COUNTS  32u        /* histograms of a series; each value is tried in all of them */

void series_release(struct series *s)
{
	while (s->small) {
		struct values *next = s->small->next;

		free(s->small);
		s->small = next;
	}
	while (s->counts) {
		struct counts *next = s->counts->next;

		free(s->counts);
		s->counts = next;
	}
	free(s->large);
}

/* Adds n <= MOST_VALUES values to the sums.  The sum of n squares fits in 64 bits when all values are below 2^27. */
static void sum_up(struct series *s, const uint32_t *v, size_t n)
{
	uint32_t min = UINT32_MAX, max = 0;
	uint64_t sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
		sum += v[i];
		squares += (uint64_t)v[i] * v[i];
	}
	s->min = !s->n || min < s->min ? min : s->min;
	s->max = max > s->max ? max : s->max;
	s->sum += sum;
	if (max >> 27)
		for (size_t i = 0; i < n; i++)
			s->squares += (uint64_t)v[i] * v[i];
	else
		s->squares += squares;
	s->rows += n;
	s->n += n;
}

void series_settle(struct series *s)
{
	struct values *p = s->small;    /* the blocks after it were settled when they were full */

	if (!p || p->summed == p->n)
		return;
	sum_up(s, p->v + p->summed, p->n - p->summed);
	p->summed = p->n;
}

/* Moves the values of p that are in the range of c into c. */
static void count_in(struct counts *c, struct values *p)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t v = p->v[i];

		if (v - c->low < c->n)
			c->of[v - c->low]++;
		else
			p->v[left++] = v;
	}
	p->n = p->summed = left;
}

static int by_u32(const void *a, const void *b)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return p < q ? -1 : p > q;
}

/*
 * Samples every SAMPLE-th value of p.  Finds the interval low .. low + width - 1 with the most samples, centred on them.  Returns whether
 * it holds at least half of the samples.
 */
static bool densest(const struct values *p, uint32_t width, uint32_t *low)
{
	uint32_t v[MOST_VALUES / SAMPLE], n = p->n / SAMPLE, from = 0, most = 0, span = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = p->v[i * SAMPLE];
	qsort(v, n, sizeof *v, by_u32);
	for (uint32_t i = 0; i < n; i++) {
		while (v[i] - v[from] >= width)
			from++;
		if (i - from + 1 > most) {
			most = i - from + 1;
			span = v[i] - v[from];
			*low = v[from];
		}
	}
	*low -= *low < (width - span) / 2 ? *low : (width - span) / 2;
	if (*low > UINT32_MAX - width)
		*low = UINT32_MAX - width;
	return most && most >= n / 2;
}

/* If one interval holds half of the first block, moves all values in it to a new histogram.  Frees empty blocks other than the first. */
static void count_all(struct series *s)
{
	size_t loose = s->n_behind + s->small->n, n_counts = 0;
	uint32_t width = loose < MOST_WIDTH ? 1u << (31 - __builtin_clz((uint32_t)loose)) : MOST_WIDTH, low = 0;
	struct values **at = &s->small->next;
	struct counts *c = NULL;

	for (const struct counts *other = s->counts; other; other = other->next)
		n_counts++;
	s->count_at = 2 * loose;
	if (n_counts < MOST_COUNTS && densest(s->small, width, &low))
		c = calloc(1, sizeof *c + width * sizeof *c->of);
	if (!c)
		return;
	c->next = s->counts;
	c->low = low;
	c->n = width;
	s->counts = c;
	count_in(c, s->small);
	s->n_behind = 0;
	while (*at) {
		struct values *p = *at;

		count_in(c, p);
		s->n_behind += p->n;
		if (p->n) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free(p);
	}
	s->count_at = 2 * s->n_behind;
}

bool series_grow(struct series *s)
{
	struct values *p = s->small;
	uint32_t cap = !p ? FIRST_VALUES : p->cap * 4 > MOST_VALUES ? MOST_VALUES : p->cap * 4;

	series_settle(s);
	if (p && p->cap == MOST_VALUES && s->n < UINT32_MAX) {
		for (struct counts *c = s->counts; c; c = c->next)
			count_in(c, p);
		if (p->n > p->cap / 2 && s->n_behind + p->n >= COUNT_FROM && s->n_behind + p->n >= s->count_at)
			count_all(s);
		if (p->n <= p->cap / 2)
			return true;
	}
	s->n_behind += p ? p->n : 0;
	p = malloc(sizeof *p + cap * sizeof *p->v);
	if (!p)
		return false;
	*p = (struct values){ .next = s->small, .cap = cap };
	s->small = p;
	return true;
}

bool series_add_large(struct series *s, int64_t v)
{
	if (!GROW(s->large, s->n_large + 1, s->cap_large))
		return false;
	s->large[s->n_large++] = v;
	if (!s->n || v < s->min)
		s->min = v;
	if (v > s->max)
		s->max = v;
	s->rows++;
	s->n++;
	s->sum += (uint64_t)v;
	s->squares += (unsigned __int128)(uint64_t)v * (uint64_t)v;
	return true;
}

bool series_merge(struct series *to, struct series *from)
{
	struct values **end = &from->small;     /* append `to` to `from`: after many merges the list of `to` is the longer one */
	struct counts **last = &from->counts;

	series_settle(to);
	series_settle(from);
	if (from->n_large) {
		if (!GROW(to->large, to->n_large + from->n_large, to->cap_large))
			return false;
		memcpy(to->large + to->n_large, from->large, from->n_large * sizeof *to->large);
		to->n_large += from->n_large;
	}
	while (*end)
		end = &(*end)->next;
	to->n_behind += from->n_behind + (from->small && to->small ? to->small->n : 0);
	*end = to->small;
	to->small = from->small;
	from->small = NULL;
	while (*last)
		last = &(*last)->next;
	*last = to->counts;
	to->counts = from->counts;
	from->counts = NULL;
	if (from->n && (!to->n || from->min < to->min))
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->rows += from->rows;
	to->n += from->n;
	to->sum += from->sum;
	to->squares += from->squares;
	return true;
}

int64_t series_mean(const struct series *s, uint64_t times, uint64_t by)
{
	unsigned __int128 whole = (unsigned __int128)s->n * by;

	return (int64_t)((s->sum * times + whole / 2) / whole);
}

static unsigned __int128 root(unsigned __int128 v)
{
	unsigned __int128 r = 0, bit = (unsigned __int128)1 << 126;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= r + bit) {
			v -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

/*
 * With m = floor(sum / n) and r = sum mod n, the sum of (x - m)^2 is S = squares - m * (sum + r), which cannot overflow when squares
 * did not.  The variance is (S - r^2 / n) / (n - 1).
 */
int64_t series_deviation(const struct series *s, uint64_t times, uint64_t by)
{
	unsigned __int128 mean = s->sum / s->n, rest = s->sum % s->n, around = s->squares - mean * (s->sum + rest);
	unsigned __int128 n = s->n, square = (unsigned __int128)4 * times * times, whole, twice;
	__int128 tail;

	if (s->n < 2)
		return 0;
	whole = around / (n - 1);
	tail = (__int128)(square * (around % (n - 1) * n)) - (__int128)(square * rest * rest);
	tail = tail < 0 ? -((-tail + (__int128)(n * (n - 1)) - 1) / (__int128)(n * (n - 1)))
			: tail / (__int128)(n * (n - 1));
	/* 4 * times^2 * variance, rounded down; its square root is twice the deviation, times `times`. */
	twice = root((unsigned __int128)((__int128)(whole * square) + tail));
	return (int64_t)((twice + by) / (2 * by));
}

/* ---- median ---- */

#define DIGIT 2048u

/* The candidates of the selection: values of the blocks (after the first pass, their copies in one bucket), and of the histograms. */
struct pool {
	const struct values *pieces;
	const struct counts *counted;
	uint32_t *kept;
	size_t n_kept;
	uint32_t low, range;            /* candidates are in low .. low + range */
};

static void count(const uint32_t *v, size_t n, uint32_t low, unsigned shift, size_t *counts)
{
	for (size_t i = 0; i < n; i++)
		counts[(v[i] - low) >> shift]++;
}

static void count_counted(const struct counts *c, uint32_t low, uint32_t range, unsigned shift, size_t *counts)
{
	for (uint32_t i = low > c->low ? low - c->low : 0; i < c->n && c->low + i - low <= range; i++)
		counts[(c->low + i - low) >> shift] += c->of[i];
}

static size_t keep(const uint32_t *v, size_t n, uint32_t low, uint32_t range, uint32_t *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		out[kept] = v[i];
		kept += v[i] - low <= range;
	}
	return kept;
}

/* Narrows the pool to the bucket that holds the k-th value, and makes *k its position in the bucket.  0, or -1: out of memory. */
static int narrow(struct pool *p, size_t *k)
{
	unsigned bits = 32 - (unsigned)__builtin_clz(p->range | 1), shift = bits > 11 ? bits - 11 : 0;
	size_t counts[DIGIT] = { 0 }, counted[DIGIT] = { 0 };
	uint32_t digit = 0;

	count(p->kept, p->n_kept, p->low, shift, counts);
	for (const struct values *v = p->pieces; v; v = v->next)
		count(v->v, v->n, p->low, shift, counts);
	for (const struct counts *c = p->counted; c; c = c->next)
		count_counted(c, p->low, p->range, shift, counted);
	for (; *k >= counts[digit] + counted[digit]; digit++)
		*k -= counts[digit] + counted[digit];
	p->low += digit << shift;
	p->range = (1u << shift) - 1;
	if (!shift)
		return 0;
	if (!p->kept) {
		p->kept = malloc((counts[digit] + 1) * sizeof *p->kept);
		if (!p->kept)
			return -1;
		for (const struct values *v = p->pieces; v; v = v->next) {
			/* keep() writes one element past those it keeps, which for the last block may be past the end of p->kept. */
			uint32_t scratch[MOST_VALUES + 1];
			size_t n = keep(v->v, v->n, p->low, p->range, scratch);

			memcpy(p->kept + p->n_kept, scratch, n * sizeof *scratch);
			p->n_kept += n;
		}
		p->pieces = NULL;
		return 0;
	}
	p->n_kept = keep(p->kept, p->n_kept, p->low, p->range, p->kept);
	return 0;
}

static int by_i64(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

	return p < q ? -1 : p > q;
}

/* The k-th smallest value (from 0), or -1: out of memory.  For k among the large values, they must be sorted. */
static int64_t nth(const struct series *s, size_t k)
{
	size_t n_small = s->n - s->n_large;
	struct pool p = { .pieces = s->small, .counted = s->counts, .low = (uint32_t)s->min };
	int rc = 0;

	if (k >= n_small)
		return s->large[k - n_small];
	p.range = (s->n_large ? UINT32_MAX : (uint32_t)s->max) - p.low;
	while (p.range && rc == 0)
		rc = narrow(&p, &k);
	free(p.kept);
	return rc < 0 ? -1 : (int64_t)p.low;
}

int64_t series_median2(struct series *s)
{
	size_t middle;
	int64_t low, high;

	series_settle(s);
	middle = s->n / 2;
	if (middle >= s->n - s->n_large)
		qsort(s->large, s->n_large, sizeof *s->large, by_i64);
	high = nth(s, middle);
	low = s->n % 2 || high < 0 ? high : nth(s, middle - 1);
	if (low < 0 || high < 0)
		return -1;
	return high > INT64_MAX - low ? INT64_MAX : low + high;
}
