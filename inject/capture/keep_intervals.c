#include "inject/capture/keep_intervals.h"

#include "inject/core/health.h"
#include "inject/core/stream.h"

#define KEEP_INTERVALS 256u     /* intervals remembered */
#define LATE 600000000000ll     /* ns: longest delay from launch to GPU start.  Correlation ids advance by less than 2^31 in it */
#define NEAR (1u << 29)         /* calls: no row arrives more than that many calls late */

/* An interval in which CUDA rows were kept. */
struct keep_interval {
	uint32_t first, end;            /* correlation ids, once known */
	uint32_t state;                 /* OPEN_ bits; without OPEN_USED: unused entry */
	uint32_t reserved;
	int64_t from, to;               /* to 0: still open */
};

static struct keep_interval all[KEEP_INTERVALS];
static uint32_t n_intervals;

void keep_intervals_clear(void)
{
	__builtin_memset(all, 0, sizeof all);
	n_intervals = 0;
}

void keep_intervals_begin(int64_t real, bool whole)
{
	struct keep_interval *k = &all[n_intervals % KEEP_INTERVALS];

	*k = (struct keep_interval){ .from = whole ? 0 : real };
	__atomic_store_n(&k->state, OPEN_USED | OPEN_RUNNING | (whole ? OPEN_WHOLE : OPEN_FIRST), __ATOMIC_RELEASE);
	__atomic_store_n(&n_intervals, n_intervals + 1, __ATOMIC_RELEASE);
}

void keep_intervals_end(int64_t real)
{
	struct keep_interval *k = &all[(n_intervals - 1) % KEEP_INTERVALS];

	__atomic_store_n(&k->to, real, __ATOMIC_RELEASE);
	__atomic_store_n(&k->state, (k->state & ~OPEN_RUNNING) | OPEN_END, __ATOMIC_RELEASE);
}

uint32_t open_set_corr(uint32_t state, uint32_t corr, uint32_t *first, uint32_t *end)
{
	if (!(state & OPEN_USED))
		return state;
	if (state & OPEN_RUNNING) {
		if (state & OPEN_FIRST)
			*first = corr;
	} else if (state & OPEN_END && !(state & OPEN_FIRST)) {
		*end = corr;
	}
	return state & ~(OPEN_FIRST | OPEN_END);
}

void keep_intervals_call(uint32_t corr)
{
	for (unsigned i = 0; i < KEEP_INTERVALS; i++) {
		uint32_t state = open_set_corr(all[i].state, corr, &all[i].first, &all[i].end);

		/* Release: readers load the state before the ids. */
		__atomic_store_n(&all[i].state, state, __ATOMIC_RELEASE);
	}
}

uint32_t keep_intervals_edges(void)
{
	uint32_t edges = 0;

	for (unsigned i = 0; i < KEEP_INTERVALS; i++)
		edges |= all[i].state & (OPEN_FIRST | OPEN_END);
	return edges;
}

/*
 * Correlation ids wrap at 2^32.  So `first` of a long open interval is moved up to NEAR calls before corr, and an interval that ended more
 * than LATE ago holds no rows.
 */
static bool holds(struct keep_interval *k, uint32_t state, uint32_t corr, int64_t real)
{
	int64_t to = __atomic_load_n(&k->to, __ATOMIC_ACQUIRE);
	uint32_t first = __atomic_load_n(&k->first, __ATOMIC_RELAXED);

	if (!corr)              /* judge by the start; without one, by whether recording is on */
		return real ? real >= k->from && (!to || real < to) : !to;
	if (state & OPEN_FIRST || (to && real - to > LATE))
		return false;
	if (!(state & OPEN_WHOLE) && (int32_t)(corr - first) < 0)
		return false;
	if (unlikely(state & OPEN_RUNNING && !(state & OPEN_WHOLE) && corr - first > 2 * NEAR))
		__atomic_store_n(&k->first, corr - NEAR, __ATOMIC_RELAXED);
	return state & (OPEN_RUNNING | OPEN_END) || (int32_t)(corr - k->end) < 0;
}

bool windows_keep(uint32_t corr, int64_t real)
{
	uint32_t n = __atomic_load_n(&n_intervals, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < KEEP_INTERVALS; i++) {
		struct keep_interval *k = &all[(n - 1 - i) % KEEP_INTERVALS];
		uint32_t state = __atomic_load_n(&k->state, __ATOMIC_ACQUIRE);

		if (state & OPEN_USED && holds(k, state, corr, real))
			return true;
	}
	if (unlikely(n > KEEP_INTERVALS) && corr && (int32_t)(corr - __atomic_load_n(&all[n % KEEP_INTERVALS].first, __ATOMIC_RELAXED)) < 0)
		health_count(HEALTH_window_forgotten);
	return false;
}
