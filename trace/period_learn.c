/*
 * Looking for a period in the launches that are remembered, in five steps:
 *
 *   count        every identity, each entry linked to the one before of the same identity
 *   candidates   identities that come back at regular distances: once per something
 *   levels       candidates of the same distance: once per layer, per micro-batch, per step, per logging interval
 *   choose       the level that is a step
 *   phase        period_phase.c: where in the period the step begins
 */
#include "trace/period_parts.h"

#include <string.h>

#define MAX_CANDIDATES (sizeof ((struct period *)0)->candidates / sizeof(struct period_candidate))
#define FIRST_ENTRIES 12u          /* fewer are no program */
#define MAX_LEVELS 64u
#define MAX_GAPS 16u

/* ---- count ---- */

static uint32_t table_size(const struct period *p)
{
	uint32_t size = 64;

	while (size < PERIOD_TABLE && size < 8 * p->stored)
		size *= 2;
	return size;
}

/* The slot of this identity, or the empty one where it would be. */
static struct period_slot *slot_for(struct period *p, uint32_t size, uint32_t id, unsigned family)
{
	uint32_t at = (id + family * 0x9e37u) & (size - 1);

	while (p->table[at].count && (p->table[at].id != id || p->table[at].family != family))
		at = (at + 1) & (size - 1);
	return &p->table[at];
}

const struct period_slot *period_find(const struct period *p, uint32_t id, unsigned family)
{
	const struct period_slot *s = slot_for((struct period *)p, table_size(p), id, family);

	return s->count ? s : NULL;
}

static void count(struct period *p)
{
	uint32_t size = table_size(p), used = 0;

	memset(p->table, 0, size * sizeof *p->table);
	p->hinted = false;
	/* Names first: where there are too many identities, those with configuration are left out. */
	for (unsigned f = 0; f < PERIOD_FAMILIES; f++) {
		for (uint32_t i = 0; i < p->stored; i++) {
			const struct period_entry *e = period_at(p, i);
			struct period_slot *s;

			p->older[f][i] = (uint16_t)i;
			p->hinted |= e->flags & PERIOD_OPTIMIZER;
			if (p->sparse && f != PERIOD_PAIR)
				continue;
			s = slot_for(p, size, e->id[f], f);
			if (s->count) {
				p->older[f][i] = s->newest;
			} else if (used++ < size / 4 * 3) {
				*s = (struct period_slot){ .id = e->id[f], .family = (uint8_t)f, .oldest = (uint16_t)i };
			} else {
				continue;
			}
			s->newest = (uint16_t)i;
			s->count++;
		}
	}
}

/* ---- candidates ---- */

/* Between the last two of these, is there anything but the optimizer?  It may have a rhythm of its own, parameter by parameter. */
static bool is_around(const struct period *p, const struct period_slot *s)
{
	for (uint32_t i = p->older[s->family][s->newest]; i < s->newest; i++)
		if (!(period_at(p, i)->flags & PERIOD_OPTIMIZER))
			return true;
	return false;
}

/* Is this identity one that comes once per something?  The newest gaps decide. */
static bool evaluate(const struct period *p, const struct period_slot *s, struct period_candidate *c)
{
		uint64_t last = period_at(p, p->stored - 1)->number, first = period_at(p, s->oldest)->number, covered = 0;
	uint32_t gaps[MAX_GAPS], n = 0, regular = 0, at = s->newest, most;

	if (s->count < 3)
		return false;
	c->hinted = period_at(p, s->newest)->flags & PERIOD_OPTIMIZER && is_around(p, s);
	/* A program's first steps are like no others: the oldest gaps do not count, of what else may be chance the two oldest at most. */
	most = s->count < 4 ? 2 : c->hinted ? (s->count - 1u) * 2 / 3 : s->count < 7 ? s->count - 2u : s->count - 3u;
	while (n < MAX_GAPS && n < most && p->older[s->family][at] != at) {
		gaps[n++] = (uint32_t)(period_at(p, at)->number - period_at(p, p->older[s->family][at])->number);
		at = p->older[s->family][at];
	}
	c->gap = period_median(gaps, n);
	/* What is known to be an optimizer may come at less regular distances: sequences have many lengths. */
	for (uint32_t i = 0; i < n; i++)
		regular += period_near(gaps[i], c->gap, c->hinted ? 2 : 7);
	covered = (uint64_t)(s->count - 1) * regular * c->gap * 1000 / n;
	c->regular = (uint16_t)(regular * 1000 / n);
	c->covers = (uint16_t)(last > first && covered < (last - first) * 1000 ? covered / (last - first) : 1000);
	c->slot = (uint16_t)(s - p->table);
	return c->regular >= 700 && c->covers >= 500;
}

static void sort_candidates(struct period_candidate *c, uint32_t n)
{
	for (uint32_t step = n / 2; step; step = step == 2 ? 1 : step * 5 / 11) {
		for (uint32_t i = step; i < n; i++) {
			struct period_candidate x = c[i];
			uint32_t j = i;

			for (; j >= step && c[j - step].gap < x.gap; j -= step)
				c[j] = c[j - step];
			c[j] = x;
		}
	}
}

/* Fills p->candidates, longest gaps first.  Where there are more than fit, the shorter ones give way. */
static uint32_t find_candidates(struct period *p)
{
	uint32_t n = 0, size = table_size(p);

	for (uint32_t i = 0; i < size; i++) {
		struct period_candidate c;

		if (!evaluate(p, &p->table[i], &c))
			continue;
		if (n == MAX_CANDIDATES) {
			sort_candidates(p->candidates, n);
			n = n / 4 * 3;
		}
		p->candidates[n++] = c;
	}
	sort_candidates(p->candidates, n);
	return n;
}

/* ---- levels ---- */

static uint32_t find_levels(const struct period *p, uint32_t n, struct level *levels)
{
	uint32_t n_levels = 0;

	for (uint32_t i = 0; i < n && n_levels < MAX_LEVELS;) {
		struct level *l = &levels[n_levels++];
		uint32_t longest = p->candidates[i].gap;

		*l = (struct level){ .first = i };
		for (; i < n && period_near(p->candidates[i].gap, longest, 10); i++) {
			const struct period_candidate *c = &p->candidates[i];
			const struct period_slot *s = &p->table[c->slot];

			l->n++;
			l->n_of[s->family]++;
			l->covers += c->covers;
			l->count = s->count > l->count ? s->count : l->count;
			l->strict += c->regular >= 900;
			l->hinted |= c->hinted;
			l->graph |= period_at(p, s->newest)->flags & PERIOD_GRAPH;
		}
		l->gap = p->candidates[l->first + l->n / 2].gap;
		l->covers /= l->n;
	}
	return n_levels;
}

/* ---- choose ---- */

static uint32_t weight(const struct level *l)
{
	return l->n_of[PERIOD_NAME] > l->n_of[PERIOD_PAIR] ? l->n_of[PERIOD_NAME] : l->n_of[PERIOD_PAIR];
}

/* How often does one of the finer level come in the last cycle of the other?  The most that one of its first identities says. */
static uint32_t times_in(const struct period *p, const struct level *l, const struct level *finer)
{
	const struct period_slot *cycle = period_slot(p, l, l->n / 2);
	uint32_t begin = p->older[cycle->family][cycle->newest], most = 0;

	for (uint32_t i = 0; i < finer->n && i < 8; i++) {
		const struct period_slot *s = period_slot(p, finer, i);
		uint32_t times = 0, at = s->newest;

		for (;; at = p->older[s->family][at]) {
			times += at >= begin && at < cycle->newest;
			if (at < begin || p->older[s->family][at] == at)
				break;
		}
		most = times > most ? times : most;
	}
	return most;
}

/* ns from one to the next, the shortest that one of its first identities says. */
static int64_t duration_of(const struct period *p, const struct level *l)
{
	int64_t shortest = INT64_MAX;

	for (uint32_t i = 0; i < l->n && i < 4; i++) {
		const struct period_slot *s = period_slot(p, l, i);
		int64_t ns = period_ns(period_at(p, p->older[s->family][s->newest])->start, period_at(p, s->newest)->start);

		shortest = ns < shortest ? ns : shortest;
	}
	return shortest;
}

/*
 * The step, or a longer rhythm of steps?  Accumulation adds an optimizer to each cycle of micro-batches, as logging and evaluation add
 * something to each cycle of steps.  Without knowing an optimizer when we see one, only how often it comes tells them apart.  What
 * comes more often, fast, and is not all there is, are layers.
 */
static bool is_step_over(const struct period *p, const struct level *l, const struct level *finer)
{
	if (weight(l) < 2)
		return false;
	if (finer->covers < 900 && duration_of(p, finer) < PERIOD_SHORT)
		return true;
	return l->strict >= 2 && l->strict * 2 >= l->n && times_in(p, l, finer) <= 8;
}

/* One launch is no step, unless it is a whole graph. */
static bool may_be_step(const struct level *l)
{
	return weight(l) && (l->gap >= 2 || l->graph);
}

/*
 * Longest first: one that an optimizer's kernels are in; else the longest that is a step and not a rhythm of steps.  Levels of names
 * come before levels of configurations alone: with shapes that take turns those have a period of several steps.
 */
static const struct level *choose(struct period *p, const struct level *levels, uint32_t n, enum period_when when)
{
	p->pending = false;
	for (uint32_t i = 0; i < n; i++)
		if (levels[i].hinted && weight(&levels[i]))
			return &levels[i];
	for (uint32_t i = 0; i < n; i++) {
		const struct level *l = &levels[i], *finer = NULL;

		if (!may_be_step(l))
			continue;
		for (uint32_t k = i + 1; k < n && !finer; k++)
			if (may_be_step(&levels[k]) && levels[k].covers >= 700 && levels[k].gap * 8 <= l->gap * 5)
				finer = &levels[k];
		if (!finer)
			return l;
		if (!is_step_over(p, l, finer))
			continue;
		if (l->count >= (l->gap > PERIOD_RING / 6 || (when == PERIOD_LAST && !p->n_steps) ? 3 : 5))
			return l;
		p->pending = true;      /* by chance, so far? */
	}
	return n ? &levels[0] : NULL;
}

/*
 * On line: may this be but a part of what will turn out to be the step?  Something new in the younger half, or something that came
 * twice and is not yet due again, makes it worth while to wait; after 24 periods no more.
 */
static bool is_settled(const struct period *p, const struct level *l)
{
		uint64_t last = period_at(p, p->stored - 1)->number, span = last - period_at(p, 0)->number;
	uint32_t size = table_size(p);

	if (l->hinted || span >= (p->pending ? 64ull : 24ull) * l->gap)
		return true;
	if (p->pending)
		return false;
	if (l->count < (p->sparse || (p->model.launches && !p->model.whole) ? 4 : 10) || p->hinted)
		return false;
	for (uint32_t i = 0; i < size; i++) {
		const struct period_slot *s = &p->table[i];
		uint64_t gap;

		if (!s->count || s->family == PERIOD_CONFIG)
			continue;
		if (s->count == 1 && period_at(p, s->oldest)->number - period_at(p, 0)->number > span / 2)
			return false;
		if (s->count != 2)
			continue;
		gap = period_at(p, s->newest)->number - period_at(p, s->oldest)->number;
		if (gap > l->gap + l->gap / 2 && gap <= 16ull * l->gap && last - period_at(p, s->newest)->number < gap + gap / 4)
			return false;
	}
	return true;
}

bool period_learn(struct period *p, enum period_when when)
{
	struct level levels[MAX_LEVELS];
	const struct level *l;

	if (p->stored < FIRST_ENTRIES)
		return false;
	count(p);
	l = choose(p, levels, find_levels(p, find_candidates(p), levels), when);
	if (!l || (l->gap < 2 && !l->graph))
		return false;
	if (when == PERIOD_SETTLED && !is_settled(p, l))
		return false;
	if (when == PERIOD_FULL && p->hinted && !l->hinted)
		return false;           /* an optimizer that has not come back yet: the step is longer */
	return period_model_from(p, l);
}
