#include "cli/analyze/stats.h"

#include <string.h>

#define FIRST_VALUES 30u        /* of a group's first piece; each next one is four times as large, up to 64 KiB */
#define MOST_VALUES  16380u

struct series *groups_find(struct groups *g, uint64_t key)
{
	bool new;
	uint32_t *place = map_put(&g->index, key, (uint32_t)g->n, &new);

	if (place && new && g->n == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 64;
		struct series *list = realloc(g->list, cap * sizeof *list);

		if (!list)
			place = NULL;
		else
			g->list = list, g->cap = cap;
	}
	if (!g->direct)
		g->direct = calloc(DIRECT_KEYS, sizeof *g->direct);
	if (!place || !g->direct) {
		g->oom = true;
		return NULL;
	}
	if (new)
		g->list[g->n++] = (struct series){ .key = key };
	if (key < DIRECT_KEYS)
		g->direct[key] = *place;
	return &g->list[*place - 1];
}

static void series_release(struct series *s)
{
	while (s->small) {
		struct values *next = s->small->next;

		free(s->small);
		s->small = next;
	}
	free(s->large);
}

void groups_release(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		series_release(&g->list[i]);
	free(g->list);
	free(g->direct);
	map_release(&g->index);
	*g = (struct groups){ 0 };
}

bool series_grow(struct series *s)
{
	uint32_t cap = !s->small ? FIRST_VALUES : s->small->cap * 4 > MOST_VALUES ? MOST_VALUES : s->small->cap * 4;
	struct values *p = malloc(sizeof *p + cap * sizeof *p->v);

	if (!p)
		return false;
	p->next = s->small;
	p->n = 0;
	p->cap = cap;
	s->small = p;
	return true;
}

bool series_add_large(struct series *s, int64_t v)
{
	if (s->n_large == s->cap_large) {
		size_t cap = s->cap_large ? s->cap_large * 2 : 16;
		int64_t *large = realloc(s->large, cap * sizeof *large);

		if (!large)
			return false;
		s->large = large;
		s->cap_large = cap;
	}
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

static bool series_merge(struct series *to, struct series *from)
{
	struct values **end = &to->small;

	if (from->n_large) {
		int64_t *large = realloc(to->large, (to->n_large + from->n_large) * sizeof *large);

		if (!large)
			return false;
		memcpy(large + to->n_large, from->large, from->n_large * sizeof *large);
		to->large = large;
		to->cap_large = to->n_large += from->n_large;
	}
	while (*end)
		end = &(*end)->next;
	*end = from->small;
	from->small = NULL;
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

void groups_merge(struct groups *g, struct groups *from)
{
	g->oom |= from->oom;
	for (size_t i = 0; i < from->n && !g->oom; i++) {
		struct series *s = groups_get(g, from->list[i].key);

		if (!s || !series_merge(s, &from->list[i]))
			g->oom = true;
	}
	groups_release(from);
}

int groups_rekey(struct groups *g, uint64_t (*map)(void *at, uint64_t key), void *at)
{
	struct groups out = { 0 };

	for (size_t i = 0; i < g->n && !out.oom; i++) {
		struct series *s = groups_get(&out, map(at, g->list[i].key));

		if (!s || !series_merge(s, &g->list[i]))
			out.oom = true;
	}
	groups_release(g);
	*g = out;
	return g->oom ? -1 : 0;
}

static int by_sum(const void *a, const void *b)
{
	const struct series *p = a, *q = b;

	if (p->sum != q->sum)
		return p->sum > q->sum ? -1 : 1;
	if (p->rows != q->rows)
		return p->rows > q->rows ? -1 : 1;
	return p->key < q->key ? -1 : p->key > q->key;
}

void groups_sort(struct groups *g)
{
	if (g->n)
		qsort(g->list, g->n, sizeof *g->list, by_sum);
	map_release(&g->index);
	free(g->direct);
	g->direct = NULL;
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
 * With m the mean rounded down and r the rest of that division, the sum of (x - m)^2 is squares - m * (sum + r), which
 * cannot overflow where squares did not; the variance is (that - r^2 / n) / (n - 1).
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
	/* 4 * times^2 * variance, rounded down; its root is twice the deviation. */
	twice = root((unsigned __int128)((__int128)(whole * square) + tail));
	return (int64_t)((twice + by) / (2 * by));
}

/* ---- median ---- */

#define DIGIT 2048u

/* What is left to select from: values of the pieces, or, after the first pass, those of one bucket. */
struct pool {
	const struct values *pieces;
	uint32_t *kept;
	size_t n_kept;
	uint32_t low, range;            /* all are in low .. low + range */
};

static void count(const uint32_t *v, size_t n, uint32_t low, unsigned shift, size_t *counts)
{
	for (size_t i = 0; i < n; i++)
		counts[(v[i] - low) >> shift]++;
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

/* Narrows the pool to the bucket that holds the k-th value, *k being its place in there.  0, or -1: out of memory. */
static int narrow(struct pool *p, size_t *k)
{
	unsigned bits = 32 - (unsigned)__builtin_clz(p->range | 1), shift = bits > 11 ? bits - 11 : 0;
	size_t counts[DIGIT] = { 0 };
	uint32_t digit = 0;

	count(p->kept, p->n_kept, p->low, shift, counts);
	for (const struct values *v = p->pieces; v; v = v->next)
		count(v->v, v->n, p->low, shift, counts);
	while (*k >= counts[digit])
		*k -= counts[digit++];
	p->low += digit << shift;
	p->range = (1u << shift) - 1;
	if (!shift)
		return 0;
	if (!p->kept) {
		p->kept = malloc((counts[digit] + 1) * sizeof *p->kept);
		if (!p->kept)
			return -1;
		for (const struct values *v = p->pieces; v; v = v->next) {
			/* keep() writes one place behind what it keeps; of the last piece that may be the end of the
			 * array. */
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

/* The k-th smallest value (from 0), or -1. */
static int64_t nth(const struct series *s, size_t k)
{
	size_t n_small = s->n - s->n_large;
	struct pool p = { .pieces = s->small, .low = (uint32_t)s->min };
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
	size_t middle = s->n / 2;
	int64_t low, high;

	if (middle >= s->n - s->n_large)
		qsort(s->large, s->n_large, sizeof *s->large, by_i64);
	high = nth(s, middle);
	low = s->n % 2 || high < 0 ? high : nth(s, middle - 1);
	if (low < 0 || high < 0)
		return -1;
	return high > INT64_MAX - low ? INT64_MAX : low + high;
}

int64_t share(unsigned __int128 part, unsigned __int128 whole)
{
	return whole ? (int64_t)((part * 1000 + whole / 2) / whole) : 0;
}
