/* Finds where in the period a step begins, and the launches (landmarks) that identify its steps. */
#include "trace/rules/period_parts.h"

#include <string.h>

#define MAX_CYCLES 16u

static void sort_numbers(uint32_t *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t x = v[i], j = i;

		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

uint32_t period_median(uint32_t *v, uint32_t n)
{
	sort_numbers(v, n);
	return n ? v[n / 2] : 0;
}

/* The newest complete cycles, from one occurrence of the reference to the next. */
struct cycles {
	uint32_t n;
	uint16_t begin[MAX_CYCLES], end[MAX_CYCLES];    /* entries; newest first */
};

/* The identity that delimits cycles: the most regular of the level. */
static const struct period_slot *find_reference(const struct period *p, const struct level *l)
{
	const struct period_slot *reference = period_slot(p, l, 0);
	uint32_t best = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct period_candidate *k = &p->candidates[l->first + i];
		uint32_t score = k->regular * 4u + k->covers * 2u + (p->table[k->slot].family == PERIOD_CONFIG ? 0 : 100);

		if (score > best) {
			best = score;
			reference = &p->table[k->slot];
		}
	}
	return reference;
}

/* part: tolerance of a cycle's length, as in period_near(). */
static void find_cycles(const struct period *p, const struct level *l, const struct period_slot *reference, uint32_t part, struct cycles *c)
{
	uint16_t at = reference->newest;

	c->n = 0;
	while (c->n < MAX_CYCLES && p->older[reference->family][at] != at) {
		uint16_t older = p->older[reference->family][at];

		if (period_near((uint32_t)(period_at(p, at)->number - period_at(p, older)->number), l->gap, part)) {
			c->begin[c->n] = older;
			c->end[c->n++] = at;
		}
		at = older;
	}
}

/* Median offset of the identity from the begins of cycles; *hits: number of cycles that contain it exactly once. */
static uint32_t offset_in(const struct period *p, const struct cycles *c, const struct period_slot *s, uint16_t *hits)
{
	uint32_t offsets[MAX_CYCLES], n = 0;
	uint16_t at = s->newest;

	for (uint32_t k = 0; k < c->n; k++) {
		uint32_t found = 0, offset = 0;

		while (at >= c->end[k] && p->older[s->family][at] != at)
			at = p->older[s->family][at];
		while (at >= c->begin[k] && at < c->end[k]) {
			offset = (uint32_t)(period_at(p, at)->number - period_at(p, c->begin[k])->number);
			found++;
			if (p->older[s->family][at] == at)
				break;
			at = p->older[s->family][at];
		}
		if (found == 1)
			offsets[n++] = offset;
	}
	*hits = (uint16_t)n;
	return period_median(offsets, n);
}

static struct period_landmark landmark_of(const struct period *p, const struct period_slot *s)
{
	return (struct period_landmark){ .id = s->id, .family = s->family,
					 .graph = (period_at(p, s->newest)->flags & PERIOD_GRAPH) != 0 };
}

/* Picks landmarks about evenly spread over the cycle, sorted by offset from the reference. */
static void pick_landmarks(struct period *p, const struct level *l, const struct cycles *c)
{
	uint32_t most = PERIOD_LANDMARKS - 8;

	p->n_landmarks = 0;
	for (uint32_t i = 0; i < l->n && i < 512; i++) {
		const struct period_slot *s = period_slot(p, l, (uint32_t)((uint64_t)i * l->n / (l->n < 512 ? l->n : 512)));
		struct period_landmark m = landmark_of(p, s);
		uint32_t k = p->n_landmarks;

		m.offset = offset_in(p, c, s, &m.hits);
		if (m.hits * 10u < c->n * 6u)
			continue;
		while (k > 0 && p->landmarks[k - 1].offset > m.offset)
			k--;
		if (k > 0 && p->landmarks[k - 1].offset == m.offset) {
			if (m.hits > p->landmarks[k - 1].hits || (m.hits == p->landmarks[k - 1].hits && m.family < p->landmarks[k - 1].family))
				p->landmarks[k - 1] = m;
			continue;
		}
		if (p->n_landmarks == most) {
			uint32_t closest = 1;

			for (uint32_t j = 1; j < most; j++)
				if (p->landmarks[j].offset - p->landmarks[j - 1].offset <
				    p->landmarks[closest].offset - p->landmarks[closest - 1].offset)
					closest = j;
			memmove(p->landmarks + closest, p->landmarks + closest + 1, (most - closest - 1) * sizeof m);
			p->n_landmarks--;
			k -= k > closest;
		}
		memmove(p->landmarks + k + 1, p->landmarks + k, (p->n_landmarks - k) * sizeof m);
		p->landmarks[k] = m;
		p->n_landmarks++;
	}
}

/*
 * Idle time of the host in each cycle: `at`, before each landmark; `after`, the longest pause before a launch between that landmark and
 * the next.  The latter counts only if it is at the same offset in most cycles; random pauses are not.
 */
struct pauses {
	uint32_t at[PERIOD_LANDMARKS][MAX_CYCLES], n_at[PERIOD_LANDMARKS];
	uint32_t after[PERIOD_LANDMARKS][MAX_CYCLES], offset[PERIOD_LANDMARKS][MAX_CYCLES], n_after[PERIOD_LANDMARKS];
};

static bool is_landmark(const struct period_landmark *m, const struct period_entry *e)
{
	return e->id[m->family] == m->id;
}

/*
 * Idle time before entry i, weighted up where a step is likely to begin: after an optimizer, or at a copy of the next batch.  The host
 * usually pauses longer between steps than inside a step, but not always.
 */
static uint32_t pause_before(const struct period *p, uint32_t i)
{
	const struct period_entry *e = period_at(p, i), *before = period_at(p, i ? i - 1 : 0);
	uint32_t idle = e->idle < UINT32_MAX / 16 ? e->idle + 1 : UINT32_MAX / 16;

	if (before->flags & ~e->flags & PERIOD_OPTIMIZER)
		idle *= 4;
	if (e->flags & ~before->flags & PERIOD_COPY_IN)
		idle *= 3;
	return idle;
}

static void find_pauses(const struct period *p, const struct cycles *c, struct pauses *q)
{
	memset(q->n_at, 0, sizeof q->n_at);
	memset(q->n_after, 0, sizeof q->n_after);
	for (uint32_t k = 0; k < c->n; k++) {
		uint32_t next = 0, seen;
		uint64_t zero = 0;

		for (uint32_t i = c->begin[k]; i < c->end[k]; i++) {
			const struct period_entry *e = period_at(p, i);
			uint32_t idle = pause_before(p, i);

			for (seen = next; seen < p->n_landmarks && seen < next + 4 && !is_landmark(&p->landmarks[seen], e); seen++)
				;
			if (seen < p->n_landmarks && seen < next + 4) {
				q->at[seen][q->n_at[seen]++] = idle;
				q->offset[seen][q->n_after[seen]] = 0;
				q->after[seen][q->n_after[seen]++] = 0;
				next = seen + 1;
				zero = e->number;
			} else if (next && idle > q->after[next - 1][q->n_after[next - 1] - 1]) {
				q->after[next - 1][q->n_after[next - 1] - 1] = idle;
				q->offset[next - 1][q->n_after[next - 1] - 1] = (uint32_t)(e->number - zero);
			}
		}
	}
}

/* Number of pauses whose offset from the landmark is the median offset, within 1 % of the gap; *usual: their median length. */
static uint32_t steady(const uint32_t *idle, const uint32_t *offset, uint32_t n, uint32_t gap, uint32_t *where, uint32_t *usual)
{
	uint32_t sorted[MAX_CYCLES], kept[MAX_CYCLES], n_kept = 0;

	memcpy(sorted, offset, n * sizeof *sorted);
	*where = period_median(sorted, n);
	for (uint32_t i = 0; i < n; i++)
		if (idle[i] && offset[i] <= *where + gap / 100 + 1 && *where <= offset[i] + gap / 100 + 1)
			kept[n_kept++] = idle[i];
	*usual = period_median(kept, n_kept);
	return n_kept;
}

struct phase {
	uint32_t landmark, behind;      /* a step begins `behind` launches after this landmark */
	uint32_t offset;                /* begin of a step, in launches after the reference */
	uint32_t longest, second;       /* pause at the begin; longest pause elsewhere */
};

static void weigh(struct phase *f, uint32_t landmark, uint32_t behind, uint32_t idle)
{
	if (idle > f->longest) {
		f->second = f->longest;
		f->longest = idle;
		f->landmark = landmark;
		f->behind = behind;
	} else if (idle > f->second) {
		f->second = idle;
	}
}

static struct phase phase_from(const struct period *p, const struct level *l, const struct cycles *c, struct pauses *q)
{
	struct phase f = { 0 };

	for (uint32_t s = 0; s < p->n_landmarks; s++) {
		uint32_t where, usual;

		if (q->n_at[s] * 2 >= c->n)
			weigh(&f, s, 0, period_median(q->at[s], q->n_at[s]));
		if (steady(q->after[s], q->offset[s], q->n_after[s], l->gap, &where, &usual) * 5 >= c->n * 3)
			weigh(&f, s, where, usual);
	}
	f.offset = (p->landmarks[f.landmark].offset + f.behind) % l->gap;
	return f;
}

/* False: out of memory. */
static bool find_phase(const struct period *p, const struct level *l, const struct cycles *c, struct phase *f)
{
	struct pauses *q = p->room.take(sizeof *q);

	if (!q)
		return false;
	find_pauses(p, c, q);
	*f = phase_from(p, l, c, q);
	p->room.give(q);
	return true;
}

/* ---- the model ---- */

/* Makes landmarks of the entry's identities that occur exactly once in nearly all cycles.  Returns the first of them, or NULL. */
static const struct period_slot *add_landmark(struct period *p, const struct cycles *c, const struct period_entry *e)
{
	const struct period_slot *added = NULL;

	for (unsigned f = 0; f < PERIOD_FAMILIES && p->n_landmarks < PERIOD_LANDMARKS; f++) {
		const struct period_slot *s = period_find(p, e->id[f], f);
		struct period_landmark m;
		bool known = false;

		if (!s)
			continue;
		m = landmark_of(p, s);
		m.offset = offset_in(p, c, s, &m.hits);
		if (m.hits * 10u < c->n * 9u)
			continue;
		for (uint32_t k = 0; k < p->n_landmarks; k++)
			known |= p->landmarks[k].id == s->id && p->landmarks[k].family == s->family;
		if (!added)
			added = s;
		if (!known)
			p->landmarks[p->n_landmarks++] = m;
	}
	return added;
}

/* Entry of a step's first launch, in a cycle where the longest pause is at the usual place.  UINT32_MAX: none. */
static uint32_t find_first(const struct period *p, const struct level *l, const struct cycles *c, const struct phase *f)
{
	struct period_landmark m = p->landmarks[f->landmark];

	for (uint32_t k = 0; k < c->n; k++) {
		uint32_t i = c->begin[k], best;
		uint64_t end;

		while (i < c->end[k] && !is_landmark(&m, period_at(p, i)))
			i++;
		if (i == c->end[k])
			continue;
		best = i;
		end = period_at(p, i)->number + f->behind + l->gap / 50 + 1;
		for (uint32_t j = i + 1; f->behind && j < p->stored && period_at(p, j)->number <= end; j++)
			if (best == i || pause_before(p, j) > pause_before(p, best))
				best = j;
		if (period_at(p, best)->number == period_at(p, i)->number + f->behind)
			return best;
	}
	return UINT32_MAX;
}

/* Adds landmarks at a step's first launch and at its last launches.  Returns the identity of the first launch; NULL: not a landmark. */
static const struct period_slot *add_ends(struct period *p, const struct level *l, const struct cycles *c, const struct phase *f)
{
	const struct period_slot *first;
	uint32_t i = find_first(p, l, c, f), back = 0;

	if (i == UINT32_MAX)
		return NULL;
	first = add_landmark(p, c, period_at(p, i));
	while (i-- > 0 && back++ < 64)
		if (add_landmark(p, c, period_at(p, i)))
			break;
	return first;
}

/* Measures all offsets from the step's first launch, which is a landmark: exact even if steps differ in length. */
static void measure_from(struct period *p, const struct level *l, const struct period_slot *first)
{
	struct cycles c;

	find_cycles(p, l, first, 2, &c);
	if (!c.n)
		return;
	for (uint32_t i = 0; i < p->n_landmarks; i++) {
		struct period_landmark *m = &p->landmarks[i];
		const struct period_slot *s = period_find(p, m->id, m->family);
		uint32_t offset;
		uint16_t hits;

		offset = offset_in(p, &c, s, &hits);
		if (hits)
			m->offset = offset;
	}
}

/* Converts offsets from the reference to offsets from the step's first launch. */
static void turn_offsets(struct period *p, uint32_t gap, uint32_t phase)
{
	for (uint32_t i = 0; i < p->n_landmarks; i++)
		p->landmarks[i].offset = (p->landmarks[i].offset + gap - phase) % gap;
}

static void order_landmarks(struct period *p)
{
	for (uint32_t i = 1; i < p->n_landmarks; i++) {
		struct period_landmark m = p->landmarks[i];
		uint32_t k = i;

		for (; k > 0 && p->landmarks[k - 1].offset > m.offset; k--)
			p->landmarks[k] = p->landmarks[k - 1];
		p->landmarks[k] = m;
	}
}

/*
 * The master: the last landmark that nearly all cycles contain, by name or pair if possible.  For graphs it is the landmark with
 * configuration, which identifies the graph: an evaluation may launch another graph.
 */
static uint32_t find_master(const struct period *p)
{
	uint32_t most = 0, master = 0;

	for (uint32_t i = 0; i < p->n_landmarks; i++)
		most = p->landmarks[i].hits > most ? p->landmarks[i].hits : most;
	for (uint32_t i = 0; i < p->n_landmarks; i++)
		if (p->landmarks[i].hits * 20u >= most * 19u && (p->landmarks[i].family != PERIOD_CONFIG || !p->landmarks[master].hits ||
		    p->landmarks[master].family == PERIOD_CONFIG))
			master = i;
	for (uint32_t i = 0; i < p->n_landmarks; i++)
		if (p->landmarks[i].graph && p->landmarks[i].family == PERIOD_CONFIG && p->landmarks[i].hits * 20u >= most * 19u)
			return i;
	return master;
}

static int64_t usual_duration(const struct period *p, const struct cycles *c)
{
	uint32_t us[MAX_CYCLES];

	for (uint32_t k = 0; k < c->n; k++) {
		int64_t ns = period_ns(period_at(p, c->begin[k])->start, period_at(p, c->end[k])->start);

		us[k] = ns / 64 > UINT32_MAX ? UINT32_MAX : (uint32_t)(ns / 64);
	}
	return (int64_t)period_median(us, c->n) * 64;
}

static void index_landmarks(struct period *p)
{
	const struct period_landmark *m = &p->landmarks[p->master];

	memset(p->find, 0, sizeof p->find);
	for (uint32_t i = p->n_landmarks; i-- > 0;)
		p->find[p->landmarks[i].family][p->landmarks[i].id & 255] = (uint8_t)(i + 1);
	p->find[m->family][m->id & 255] = (uint8_t)(p->master + 1);
}

/* Whether a cycle copies from the host, or no launch in the ring does.  A part of a step rarely copies. */
static bool has_copies(const struct period *p, const struct cycles *c)
{
	bool any = false;

	for (uint32_t i = c->begin[0]; i < c->end[0]; i++)
		if (period_at(p, i)->flags & PERIOD_COPY_IN)
			return true;
	for (uint32_t i = 0; i < p->stored && !any; i++)
		any = period_at(p, i)->flags & PERIOD_COPY_IN;
	return !any;
}

/* Whether the level's cycles cover at least 85 % of the ring. */
static bool is_whole(const struct period *p, const struct level *l)
{
	uint64_t span = period_at(p, p->stored - 1)->number - period_at(p, 0)->number;

	return (uint64_t)period_slot(p, l, l->n / 2)->count * l->gap * 100 >= span * 85;
}

bool period_model_from(struct period *p, const struct level *l)
{
	struct cycles c;
	const struct period_slot *first;
	struct phase f;
	uint32_t clear;
	bool copies;

	find_cycles(p, l, find_reference(p, l), 6, &c);
	if (c.n < 2)
		find_cycles(p, l, find_reference(p, l), 2, &c);
	if (c.n < 2)
		return false;
	pick_landmarks(p, l, &c);
	if (!p->n_landmarks || !find_phase(p, l, &c, &f))
		return false;
	clear = f.longest ? (uint32_t)((uint64_t)(f.longest - f.second) * 1000 / f.longest) : 0;
	copies = has_copies(p, &c);
	p->partial = l->covers < (copies ? 700 : 850);
	first = add_ends(p, l, &c, &f);
	if (first)
		measure_from(p, l, first);
	else
		turn_offsets(p, l->gap, f.offset);
	order_landmarks(p);
	p->master = find_master(p);
	index_landmarks(p);
	p->model = (struct period_model){
		.launches = l->gap, .duration = usual_duration(p, &c), .revised = p->model.revised,
		.anchor = p->landmarks[0].id, .anchor_offset = p->landmarks[0].offset, .anchor_kind = p->landmarks[0].family,
		.named = l->hinted, .plain = clear >= 400 && copies, .whole = is_whole(p, l),
		.confidence = (l->covers / 1000.0) * (c.n < 5 ? c.n / 5.0 : 1) * (0.5 + clear / 2000.0),
	};
	return true;
}

