/*
 * Statistics over groups of rows: count, sum, mean, median, min, max and standard deviation, all exact.
 *
 * A median needs all values.  Values below 2^32 (4.3 s in ns) take four bytes each.  Where many values lie close together, as the durations
 * of one kernel do, a histogram with one counter per value replaces them: 10^8 rows of a training loop take a few MB.
 */
#ifndef CLI_REPORT_PARTS_STATS_H
#define CLI_REPORT_PARTS_STATS_H

#include "cli/model/map.h"

/* A list of blocks of values below 2^32.  Blocks are never reallocated. */
struct values {
	struct values *next;
	uint32_t n, cap;
	uint32_t summed;                /* number of values that are in the sums of the series */
	uint32_t v[];
};

/* A histogram: of[i] is the number of values equal to low + i, for i < n. */
struct counts {
	struct counts *next;
	uint32_t low, n;
	uint32_t of[];
};

/* rows, n, min, max, sum and squares are current only after series_settle(); groups_merge() and groups_sort() call it. */
struct series {
	uint64_t key;
	struct values *small;           /* the block being filled is the first */
	struct counts *counts;
	uint64_t rows;                  /* with and without a value */
	uint64_t n;                     /* rows with a value */
	int64_t min, max;
	unsigned __int128 sum, squares;
	int64_t *large;                 /* values of 2^32 and above */
	size_t n_large, cap_large;
	size_t n_behind;                /* number of values in all blocks but the first */
	size_t count_at;                /* number of values in blocks at which to try the next histogram */
};

/* Series by key.  { 0 } is empty. */
struct groups {
	struct map index;
	struct series *list;
	uint32_t *direct;               /* for keys below DIRECT_KEYS: position in list + 1; 0: no such key */
	size_t n, cap;
	bool oom;
};

#define DIRECT_KEYS 16384u

/* The series of a key, created if missing.  Returns NULL when out of memory.  The pointer is valid until the next call. */
struct series *groups_find(struct groups *g, uint64_t key);

/* As groups_find(), faster for small keys. */
static inline struct series *groups_get(struct groups *g, uint64_t key)
{
	return key < DIRECT_KEYS && g->direct && g->direct[key] ? &g->list[g->direct[key] - 1] : groups_find(g, key);
}

void groups_release(struct groups *g);

/* Moves every series of `from` into g, and releases `from`.  Sets g->oom when out of memory. */
void groups_merge(struct groups *g, struct groups *from);

/* Replaces each key by map(at, key), and merges series that get the same key.  Returns 0, or -1 when out of memory. */
int groups_rekey(struct groups *g, uint64_t (*map)(void *at, uint64_t key), void *at);

/* Sorts list by sum, then by rows, both descending, then by key.  groups_get() and groups_find() must not be called after it. */
void groups_sort(struct groups *g);

/* Adds a row with an unknown value. */
static inline void series_unknown(struct series *s)
{
	s->rows++;
}

/* Slow paths of series_add(): make room for one more value below 2^32; add a value of 2^32 or above.  Return false when out of memory. */
bool series_grow(struct series *s);
bool series_add_large(struct series *s, int64_t v);

/* Adds a row with value v >= 0.  Returns false when out of memory. */
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

/* Adds the values since the last call to rows, n, min, max, sum and squares. */
void series_settle(struct series *s);
/* Moves all values of `from` to `to`; the caller still releases `from`.  Returns false when out of memory. */
bool series_merge(struct series *to, struct series *from);
void series_release(struct series *s);

/* Mean * times / by, rounded half up.  Needs s->n > 0. */
int64_t series_mean(const struct series *s, uint64_t times, uint64_t by);
/* Sample standard deviation (divisor n - 1) * times / by, rounded half up; 0 for one value.  Needs s->n > 0. */
int64_t series_deviation(const struct series *s, uint64_t times, uint64_t by);
/* Twice the median, so that it is exact; at most INT64_MAX.  Needs a value; may reorder values.  Returns -1 when out of memory. */
int64_t series_median2(struct series *s);

/* part / whole in percent, rounded half up; 0 when whole is 0. */
long long share_percent(int64_t part, int64_t whole);

/* part / whole in tenths of a percent, rounded half up; 0 when whole is 0. */
int64_t share(unsigned __int128 part, unsigned __int128 whole);

#endif
