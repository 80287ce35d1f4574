#include "cli/analyze/stats.h"

#include <string.h>

struct series *groups_get(struct groups *g, uint64_t key)
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
	if (!place) {
		g->oom = true;
		return NULL;
	}
	if (new)
		g->list[g->n++] = (struct series){ .key = key };
	return &g->list[*place - 1];
}

static void series_release(struct series *s)
{
	free(s->small);
	free(s->large);
}

void groups_release(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		series_release(&g->list[i]);
	free(g->list);
	map_release(&g->index);
	*g = (struct groups){ 0 };
}

bool series_grow(struct series *s, bool large)
{
	size_t *cap = large ? &s->cap_large : &s->cap_small, more = *cap ? *cap * 2 : 16;
	void *p = large ? realloc(s->large, more * sizeof *s->large) : realloc(s->small, more * sizeof *s->small);

	if (!p)
		return false;
	if (large)
		s->large = p;
	else
		s->small = p;
	*cap = more;
	return true;
}

/* Appends n elements of one array to another. */
static bool append(void **to, size_t *n_to, size_t *cap, void **from, size_t n, size_t width)
{
	if (!*n_to) {           /* nothing to keep: take the array as it is */
		free(*to);
		*to = *from;
		*from = NULL;
		*n_to = *cap = n;
		return true;
	}
	if (!n)
		return true;

	void *p = realloc(*to, (*n_to + n) * width);

	if (!p)
		return false;
	memcpy((char *)p + *n_to * width, *from, n * width);
	*to = p;
	*cap = *n_to += n;
	return true;
}

static bool series_merge(struct series *to, struct series *from)
{
	if (!append((void **)&to->small, &to->n_small, &to->cap_small, (void **)&from->small, from->n_small, sizeof *to->small) ||
	    !append((void **)&to->large, &to->n_large, &to->cap_large, (void **)&from->large, from->n_large, sizeof *to->large))
		return false;
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
	qsort(g->list, g->n, sizeof *g->list, by_sum);
	map_release(&g->index);         /* the places have changed */
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
 * With m the mean rounded down and r the rest of that division, the sum of (x - m)^2 is squares - m * (sum + r), which cannot
 * overflow where squares did not; the variance is (that - r^2 / n) / (n - 1).
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
	tail = tail < 0 ? -((-tail + (__int128)(n * (n - 1)) - 1) / (__int128)(n * (n - 1))) : tail / (__int128)(n * (n - 1));
	/* 4 * times^2 * variance, rounded down; its root is twice the deviation. */
	twice = root((unsigned __int128)((__int128)(whole * square) + tail));
	return (int64_t)((twice + by) / (2 * by));
}

/* ---- median: radix selection, three digits of 11, 11 and 10 bits ---- */

/* The k-th smallest of n values (from 0).  Values are filtered into scratch; v is kept. */
static uint32_t select_u32(const uint32_t *v, size_t n, size_t k, uint32_t *scratch)
{
	static const unsigned shifts[] = { 21, 10, 0 };
	uint32_t prefix = 0, mask = 0;

	for (size_t pass = 0; pass < 3; pass++) {
		size_t counts[2048] = { 0 }, kept = 0;
		unsigned shift = shifts[pass];
		uint32_t digit = 0, width = pass < 2 ? 0x7ff : 0x3ff;

		for (size_t i = 0; i < n; i++)
			counts[v[i] >> shift & width]++;
		while (k >= counts[digit])
			k -= counts[digit++];
		prefix |= digit << shift;
		mask |= width << shift;
		if (counts[digit] == n)
			continue;
		for (size_t i = 0; i < n; i++)          /* kept <= i: filtering scratch into itself is fine */
			if ((v[i] & mask) == prefix)
				scratch[kept++] = v[i];
		v = scratch;
		n = kept;
	}
	return prefix;
}

static int by_i64(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

	return p < q ? -1 : p > q;
}

static int64_t nth(const struct series *s, size_t k, uint32_t *scratch)
{
	return k < s->n_small ? select_u32(s->small, s->n_small, k, scratch) : s->large[k - s->n_small];
}

int64_t series_median2(struct series *s)
{
	uint32_t *scratch = malloc(s->n_small * sizeof *scratch + 1);
	int64_t low, high;

	if (!scratch)
		return -1;
	if (s->n / 2 >= s->n_small)
		qsort(s->large, s->n_large, sizeof *s->large, by_i64);
	low = nth(s, (s->n - 1) / 2, scratch);
	high = s->n % 2 ? low : nth(s, s->n / 2, scratch);
	free(scratch);
	return high > INT64_MAX - low ? INT64_MAX : low + high;
}

int64_t share(unsigned __int128 part, unsigned __int128 whole)
{
	return whole ? (int64_t)((part * 1000 + whole / 2) / whole) : 0;
}
