#include "inject/kept.h"

#include "inject/health.h"
#include "inject/stream.h"

#define KEPT 256u               /* times of recording that a late GPU row can still belong to */
#define LATE 600000000000ll     /* ns that the GPU may need to begin what was launched in one; no program numbers 2^31 calls in them */
#define NEAR (1u << 29)         /* calls: no row is later than that many */

/* A time in which CUDA's rows were kept. */
struct kept {
	uint32_t first, end;            /* correlation ids, once known */
	uint32_t state;                 /* OPEN_ bits; no OPEN_USED: an empty place */
	uint32_t reserved;
	int64_t from, to;               /* REALTIME ns; to 0: it goes on */
};

static struct kept all[KEPT];
static uint32_t n_kept;

void kept_clear(void)
{
	__builtin_memset(all, 0, sizeof all);
	n_kept = 0;
}

void kept_from(int64_t real, bool whole)
{
	struct kept *k = &all[n_kept % KEPT];

	*k = (struct kept){ .from = whole ? 0 : real };
	__atomic_store_n(&k->state, OPEN_USED | OPEN_RUNNING | (whole ? OPEN_WHOLE : OPEN_FIRST), __ATOMIC_RELEASE);
	__atomic_store_n(&n_kept, n_kept + 1, __ATOMIC_RELEASE);
}

void kept_until(int64_t real)
{
	struct kept *k = &all[(n_kept - 1) % KEPT];

	__atomic_store_n(&k->to, real, __ATOMIC_RELEASE);
	__atomic_store_n(&k->state, (k->state & ~OPEN_RUNNING) | OPEN_END, __ATOMIC_RELEASE);
}

uint32_t open_settle(uint32_t state, uint32_t corr, uint32_t *first, uint32_t *end)
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

void kept_call(uint32_t corr)
{
	for (unsigned i = 0; i < KEPT; i++) {
		uint32_t state = open_settle(all[i].state, corr, &all[i].first, &all[i].end);

		/* A reader looks at the state first. */
		__atomic_store_n(&all[i].state, state, __ATOMIC_RELEASE);
	}
}

uint32_t kept_edges(void)
{
	uint32_t edges = 0;

	for (unsigned i = 0; i < KEPT; i++)
		edges |= all[i].state & (OPEN_FIRST | OPEN_END);
	return edges;
}

/* Ids come again after 2^32 calls: a long time of recording is taken to have begun not too long ago, and one that is long over has no rows. */
static bool holds(struct kept *k, uint32_t state, uint32_t corr, int64_t real)
{
	int64_t to = __atomic_load_n(&k->to, __ATOMIC_ACQUIRE);
	uint32_t first = __atomic_load_n(&k->first, __ATOMIC_RELAXED);

	if (!corr)              /* CUPTI's clock counts from 1970; without a time it began whenever it came */
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
	uint32_t n = __atomic_load_n(&n_kept, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < KEPT; i++) {
		struct kept *k = &all[(n - 1 - i) % KEPT];
		uint32_t state = __atomic_load_n(&k->state, __ATOMIC_ACQUIRE);

		if (state & OPEN_USED && holds(k, state, corr, real))
			return true;
	}
	if (unlikely(n > KEPT) && corr && (int32_t)(corr - __atomic_load_n(&all[n % KEPT].first, __ATOMIC_RELAXED)) < 0)
		health_count(HEALTH_window_forgotten);
	return false;
}
