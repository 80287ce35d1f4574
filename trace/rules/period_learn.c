/*
 * Finds a period in the launches of the ring, in five stages:
 *
 *   count        counts every identity and links each entry to the previous entry of the same identity
 *   candidates   identities that recur at regular distances
 *   levels       groups of candidates with the same distance: once per layer, per micro-batch, per step, per logging interval
 *   choose       chooses the level that is the step
 *   phase        period_phase.c: finds the step's begin in the period
 */
#include "trace/rules/period_parts.h"

#include <string.h>

#define MAX_CANDIDATES (sizeof ((struct period *)0)->candidates / sizeof(struct period_candidate))
#define FIRST_ENTRIES 12u          /* minimum number of entries to learn from */
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
	/* Names and pairs first: if the table gets full, identities with configuration are left out. */
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

/* Whether launches other than the optimizer's lie between its last two occurrences; an optimizer may recur once per parameter. */
static bool is_around(const struct period *p, const struct period_slot *s)
{
	for (uint32_t i = p->older[s->family][s->newest]; i < s->newest; i++)
		if (!(period_at(p, i)->flags & PERIOD_OPTIMIZER))
			return true;
	return false;
}

/* Whether the identity recurs regularly, judged by its newest gaps; then fills *c. */
static bool evaluate(const struct period *p, const struct period_slot *s, struct period_candidate *c)
{
		uint64_t last = period_at(p, p->stored - 1)->number, first = period_at(p, s->oldest)->number, covered = 0;
	uint32_t gaps[MAX_GAPS], n = 0, regular = 0, at = s->newest, most;

	if (s->count < 3)
		return false;
	c->hinted = period_at(p, s->newest)->flags & PERIOD_OPTIMIZER && is_around(p, s);
	/* The first steps of a program are irregular: ignore the oldest gaps; with few occurrences at most two of them. */
	most = s->count < 4 ? 2 : c->hinted ? (s->count - 1u) * 2 / 3 : s->count < 7 ? s->count - 2u : s->count - 3u;
	while (n < MAX_GAPS && n < most && p->older[s->family][at] != at) {
		gaps[n++] = (uint32_t)(period_at(p, at)->number - period_at(p, p->older[s->family][at])->number);
		at = p->older[s->family][at];
	}
	c->gap = period_median(gaps, n);
	/* A known optimizer may recur less regularly: sequence lengths differ between steps. */
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

/* Fills p->candidates, longest gaps first; returns their number.  If they do not fit, those with short gaps are dropped. */
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

/* How often the finer level recurs in the last cycle of level l: the maximum over the finer level's first 8 identities. */
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

/* ns of the last cycle of the level: the minimum over its first 4 identities. */
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
 * Whether level l is the step, and not a cycle of several steps of the finer level.  Both look alike: gradient accumulation adds an
 * optimizer to each cycle of micro-batches, logging and evaluation add launches to each cycle of steps.  Without a known optimizer, only
 * the number of finer cycles in l tells them apart.  A finer level that is short and does not cover all launches is a layer.
 */
static bool is_step_over(const struct period *p, const struct level *l, const struct level *finer)
{
	if (weight(l) < 2)
		return false;
	if (finer->covers < 900 && duration_of(p, finer) < PERIOD_SHORT)
		return true;
	return l->strict >= 2 && l->strict * 2 >= l->n && times_in(p, l, finer) <= 8;
}

/* Whether the level can be a step: more than one launch, or a whole graph. */
static bool may_be_step(const struct level *l)
{
	return weight(l) && (l->gap >= 2 || l->graph);
}

/*
 * Chooses the longest level with an optimizer's kernels; else the longest that is a step and not a cycle of steps.  Levels with only
 * configuration identities count last: with alternating shapes their period is several steps.
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
		p->pending = true;      /* too few cycles: may be chance */
	}
	return n ? &levels[0] : NULL;
}

/*
 * Whether to accept the level while recording, or to wait, because it may be a part of the step.  Waits if the newer half of the ring has
 * a new identity, or if an identity occurred twice and is not yet due again; after 24 periods it does not wait.
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

static bool learn_from(struct period *p, enum period_when when, struct level *levels)
{
	const struct level *l;

	count(p);
	l = choose(p, levels, find_levels(p, find_candidates(p), levels), when);
	if (!l || (l->gap < 2 && !l->graph))
		return false;
	if (when == PERIOD_SETTLED && !is_settled(p, l))
		return false;
	if (when == PERIOD_FULL && p->hinted && !l->hinted)
		return false;           /* the optimizer has not recurred yet: the step is longer than the ring */
	return period_model_from(p, l);
}

bool period_learn(struct period *p, enum period_when when)
{
	struct level *levels = p->stored < FIRST_ENTRIES ? NULL : p->room.take(MAX_LEVELS * sizeof *levels);
	bool found;

	if (!levels)
		return false;
	found = learn_from(p, when, levels);
	p->room.give(levels);
	return found;
}
