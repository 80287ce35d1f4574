/*
 * Sums over groups of rows: count, sum, mean, median, extremes and deviation, all exact.
 * A value is kept as four bytes where it fits (4.3 s in ns), so that medians of 10^8 rows fit in memory.
 */
#ifndef ANALYZE_STATS_H
#define ANALYZE_STATS_H

#include "cli/model/map.h"

struct series {
	uint64_t key;
	uint64_t rows;                  /* all of them */
	uint64_t n;                     /* those with a value */
	int64_t min, max;
	unsigned __int128 sum, squares;
	uint32_t *small;                /* values below 2^32 */
	int64_t *large;                 /* the others */
	size_t n_small, cap_small, n_large, cap_large;
};

/* Series by key.  { 0 } is empty. */
struct groups {
	struct map index;
	struct series *list;
	size_t n, cap;
	bool oom;
};

/* The series of a key, made if need be; NULL: out of memory.  Valid until the next call. */
struct series *groups_get(struct groups *g, uint64_t key);
void groups_release(struct groups *g);

/* Moves every series of `from` into g. */
void groups_merge(struct groups *g, struct groups *from);

/* Gives series whose keys map to the same new key one place: key = map(key).  0, or -1: out of memory. */
int groups_rekey(struct groups *g, uint64_t (*map)(void *at, uint64_t key), void *at);

/* By sum, largest first; then by rows, then by key. */
void groups_sort(struct groups *g);

/* A row without a value: unknown time. */
static inline void series_unknown(struct series *s)
{
	s->rows++;
}

bool series_grow(struct series *s, bool large);

/* False: out of memory. */
static inline bool series_add(struct series *s, int64_t v)
{
	bool large = (uint64_t)v >> 32;

	if (v < 0) {            /* an end before its start: no time */
		s->rows++;
		return true;
	}
	if (__builtin_expect(large ? s->n_large == s->cap_large : s->n_small == s->cap_small, 0) && !series_grow(s, large))
		return false;
	if (large)
		s->large[s->n_large++] = v;
	else
		s->small[s->n_small++] = (uint32_t)v;
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

/* All rounded half up.  Each needs n > 0. */
int64_t series_mean(const struct series *s, uint64_t times, uint64_t by);         /* mean * times / by */
int64_t series_deviation(const struct series *s, uint64_t times, uint64_t by);    /* sample standard deviation; 0 for one value */
/* Twice the median, exactly; reorders the values.  -1: out of memory. */
int64_t series_median2(struct series *s);

/* part / whole in tenths of a percent; 0 of 0 is 0. */
int64_t share(unsigned __int128 part, unsigned __int128 whole);

#endif
