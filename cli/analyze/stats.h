/*
 * Sums over groups of rows: count, sum, mean, median, extremes and deviation, all exact.
 *
 * A median needs all values.  They are kept as four bytes where they fit (4.3 s in ns), and where many lie close together,
 * as the lengths of one kernel do, it is counted how often each value came: 10^8 rows of a training loop are a few MB.
 */
#ifndef ANALYZE_STATS_H
#define ANALYZE_STATS_H

#include "cli/model/map.h"

/* Values below 2^32 one by one, in a piece that is never moved. */
struct values {
	struct values *next;
	uint32_t n, cap;
	uint32_t summed;                /* so many of them are in the sums of the series */
	uint32_t v[];
};

/* How often each of the values low .. low + n - 1 came. */
struct counts {
	struct counts *next;
	uint32_t low, n;
	uint32_t of[];
};

/* rows to squares: right after series_settle(), which everything below that takes whole groups does. */
struct series {
	uint64_t key;
	struct values *small;           /* the piece being filled first */
	struct counts *counts;
	uint64_t rows;                  /* all of them */
	uint64_t n;                     /* those with a value */
	int64_t min, max;
	unsigned __int128 sum, squares;
	int64_t *large;                 /* values of 2^32 and above */
	size_t n_large, cap_large;
	size_t n_behind;                /* values in the pieces behind the first */
	size_t count_at;                /* with so many in pieces it is tried to count them */
};

/* Series by key.  { 0 } is empty. */
struct groups {
	struct map index;
	struct series *list;
	uint32_t *direct;               /* of small keys: place in list + 1 */
	size_t n, cap;
	bool oom;
};

#define DIRECT_KEYS 16384u

/* The series of a key, made if need be; NULL: out of memory.  Valid until the next call. */
struct series *groups_find(struct groups *g, uint64_t key);

static inline struct series *groups_get(struct groups *g, uint64_t key)
{
	return key < DIRECT_KEYS && g->direct && g->direct[key] ? &g->list[g->direct[key] - 1] : groups_find(g, key);
}

void groups_release(struct groups *g);

/* Moves every series of `from` into g. */
void groups_merge(struct groups *g, struct groups *from);

/* Gives series whose keys map to the same new key one place: key = map(key).  0, or -1: out of memory. */
int groups_rekey(struct groups *g, uint64_t (*map)(void *at, uint64_t key), void *at);

/* By sum, largest first; then by rows, then by key.  Nothing can be looked up or added after it. */
void groups_sort(struct groups *g);

/* A row without a value: unknown time. */
static inline void series_unknown(struct series *s)
{
	s->rows++;
}

/* Room for one more small value; the values above. */
bool series_grow(struct series *s);
bool series_add_large(struct series *s, int64_t v);

/* v >= 0.  False: out of memory. */
static inline bool series_add(struct series *s, int64_t v)
{
	struct values *p = s->small;

	if (__builtin_expect((uint64_t)v >> 32 != 0, 0))
		return series_add_large(s, v);
	if (__builtin_expect(!p || p->n == p->cap, 0)) {
		if (!series_grow(s))
			return false;
		p = s->small;
	}
	p->v[p->n++] = (uint32_t)v;
	return true;
}

/* Takes into the sums what was added since the last time. */
void series_settle(struct series *s);
/* Moves all of `from`, which is then to be released.  False: out of memory. */
bool series_merge(struct series *to, struct series *from);
void series_release(struct series *s);

/* All rounded half up.  Each needs n > 0. */
int64_t series_mean(const struct series *s, uint64_t times, uint64_t by);         /* mean * times / by */
/* The sample standard deviation; 0 for one value. */
int64_t series_deviation(const struct series *s, uint64_t times, uint64_t by);
/* Twice the median, exactly; may reorder values.  -1: out of memory. */
int64_t series_median2(struct series *s);

/* part / whole in tenths of a percent; 0 of 0 is 0. */
int64_t share(unsigned __int128 part, unsigned __int128 whole);

#endif
