/* What the files of the detector share.  period.c is fed and hands out steps; period_learn.c finds how long one is, period_phase.c where
 * it begins. */
#ifndef TRACE_PERIOD_PARTS_H
#define TRACE_PERIOD_PARTS_H

#include "trace/period.h"

/* ns; what is shorter is more often a layer than a step. */
#define PERIOD_SHORT 250000

/* Candidates of the same distance. */
struct level {
	uint32_t gap;                   /* launches, the median of its candidates' */
	uint32_t first, n;              /* its candidates */
	uint32_t n_of[PERIOD_FAMILIES];
	uint32_t covers, count;         /* the mean and the most of its candidates */
	uint32_t strict;                /* candidates with hardly an exception */
	bool hinted, graph;
};

static inline const struct period_slot *period_slot(const struct period *p, const struct level *l, uint32_t i)
{
	return &p->table[p->candidates[l->first + i].slot];
}

/* ns from one time to a later one; 0 if it is not later, or not a time. */
static inline int64_t period_ns(int64_t from, int64_t to)
{
	int64_t ns;

	return __builtin_sub_overflow(to, from, &ns) || ns < 0 ? 0 : ns;
}

/* The identity as counted; NULL: it was left out. */
const struct period_slot *period_find(const struct period *p, uint32_t id, unsigned family);

/* Within a part of b: 10 means 10 %.  Short distances must be the same. */
static inline bool period_near(uint32_t a, uint32_t b, uint32_t part)
{
	uint32_t most = b / part + (b >= 8);

	return a <= b + most && b <= a + most;
}

/* Sorts the few numbers. */
uint32_t period_median(uint32_t *v, uint32_t n);

/* The landmarks of the level's cycles, where a step begins, and so the model.  false: there are too few cycles. */
bool period_model_from(struct period *p, const struct level *l);

#endif
