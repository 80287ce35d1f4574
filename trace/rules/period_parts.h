/*
 * Shared by the detector's files: period.c takes launches and returns steps, period_learn.c finds the length of a step, period_phase.c
 * its begin.
 */
#ifndef TRACE_RULES_PERIOD_PARTS_H
#define TRACE_RULES_PERIOD_PARTS_H

#include "trace/rules/period.h"

/* ns; a shorter period is more often a layer than a step. */
#define PERIOD_SHORT 250000

/* Candidates with about the same gap. */
struct level {
	uint32_t gap;                   /* in launches, median of its candidates */
	uint32_t first, n;              /* range of its candidates */
	uint32_t n_of[PERIOD_FAMILIES]; /* candidates of each family */
	uint32_t covers, count;         /* mean `covers` of its candidates; largest number of occurrences */
	uint32_t strict;                /* candidates with at least 90 % regular gaps */
	bool hinted, graph;
};

/* Slot of candidate i of the level. */
static inline const struct period_slot *period_slot(const struct period *p, const struct level *l, uint32_t i)
{
	return &p->table[p->candidates[l->first + i].slot];
}

/* ns from one time to another; 0 if `to` is not later or the difference overflows. */
static inline int64_t period_ns(int64_t from, int64_t to)
{
	int64_t ns;

	return __builtin_sub_overflow(to, from, &ns) || ns < 0 ? 0 : ns;
}

/* Slot of an identity in the table of the last count; NULL: the table was full and has none. */
const struct period_slot *period_find(const struct period *p, uint32_t id, unsigned family);

/* Whether a and b differ by at most 1/part of b (10: a tenth), plus 1 from b = 8 on. */
static inline bool period_near(uint32_t a, uint32_t b, uint32_t part)
{
	uint32_t most = b / part + (b >= 8);

	return a <= b + most && b <= a + most;
}

/* Median of n numbers; sorts them. */
uint32_t period_median(uint32_t *v, uint32_t n);

/* Sets landmarks and model from the cycles of a level.  false: too few cycles, or no memory. */
bool period_model_from(struct period *p, const struct level *l);

#endif
