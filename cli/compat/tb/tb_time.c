/*
 * Steps and roles by the plugin's rules (event_parser.py, overall_parser.py): the calls of a step, its end on the GPU, and its time by
 * role.
 */
#include "cli/compat/tb/tb.h"
#include "cli/model/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- calls and their GPU events ---- */

#define NOBODY (TB_NONE - 1)    /* ends a list of waiting events; a map cannot have MAP_NONE as a value */

struct pending {
	struct map calls;               /* correlation id -> the last call with it */
	struct map waiting;             /* correlation id -> the last GPU event without a call yet */
	uint32_t *before;               /* by GPU event without a call: the next one in its list; NOBODY: none */
};

static void put_under(struct tb_run *r, uint32_t call, uint32_t event)
{
	struct tb_call *c = &r->calls[call];
	struct tb_event *e = &r->events[event];

	e->link = call;
	c->first = !c->n || e->start < c->first ? e->start : c->first;
	c->last = !c->n || e->end > c->last ? e->end : c->last;
	c->n++;
	c->duration = time_add(c->duration, time_sub(e->end, e->start));
	if (e->type == TB_KERNEL && e->flags & TB_TENSOR)
		c->tensor = time_add(c->tensor, time_sub(e->end, e->start));
}

/* Called by time.  A call gets the GPU events with its id that came before it without a call, and those after it up to the next call. */
static int link_event(struct tb_run *r, struct pending *p, uint32_t i)
{
	struct tb_event *e = &r->events[i];
	uint32_t at;

	if (e->type == TB_CALL) {
		e->link = (uint32_t)r->n_calls;
		r->calls[r->n_calls++] = (struct tb_call){ .event = i };
		if (!e->has_corr)
			return 0;
		at = map_get(&p->waiting, e->corr);
		for (; at != MAP_NONE && at != NOBODY; at = p->before[at])
			put_under(r, e->link, at);
		return (at == MAP_NONE || map_set(&p->waiting, e->corr, NOBODY)) && map_set(&p->calls, e->corr, e->link) ? 0 : -1;
	}
	if (!tb_is_gpu(e) || !e->has_corr)
		return 0;
	at = map_get(&p->calls, e->corr);
	if (at != MAP_NONE) {
		put_under(r, at, i);
		return 0;
	}
	at = map_get(&p->waiting, e->corr);
	p->before[i] = at == MAP_NONE ? NOBODY : at;
	return map_set(&p->waiting, e->corr, i) ? 0 : -1;
}

static int link_all(struct tb_run *r)
{
	struct pending p = { .before = malloc((r->n + 1) * sizeof *p.before) };
	int rc;

	r->calls = malloc((r->n + 1) * sizeof *r->calls);
	rc = p.before && r->calls ? 0 : -1;
	for (uint32_t i = 0; rc == 0 && i < r->n; i++)
		rc = link_event(r, &p, i);
	map_release(&p.calls);
	map_release(&p.waiting);
	free(p.before);
	return rc;
}

/* ---- roles ---- */

static bool on_host(const struct tb_event *e)
{
	return e->type == TB_OP || e->type == TB_ANNOTATION || e->type == TB_PYTHON || e->type == TB_GPU_ANNOTATION;
}

static enum tb_role role_of(const struct tb_event *e, const struct map *communication)
{
	switch (e->type) {
	case TB_KERNEL:
		return map_get(communication, e->external) != MAP_NONE ? TB_ROLE_COMMUNICATION : TB_ROLE_KERNEL;
	case TB_MEMCPY:
		return TB_ROLE_MEMCPY;
	case TB_MEMSET:
		return TB_ROLE_MEMSET;
	case TB_CALL:
		return TB_ROLE_RUNTIME;
	default:
		if (!on_host(e))
			return TB_ROLES;
		return e->flags & TB_LOADER ? TB_ROLE_LOADER : e->flags & TB_COMMUNICATION ? TB_ROLE_COMMUNICATION : TB_ROLE_CPU;
	}
}

/* Fills roles.  A kernel is communication if its External id is that of a collective on the host. */
static int find_roles(struct tb_run *r)
{
	struct map communication = { 0 };
	int rc = 0;

	for (size_t i = 0; i < r->n && rc == 0; i++)
		if (on_host(&r->events[i]) && r->events[i].flags & TB_COMMUNICATION && r->events[i].external != TB_NO_ID)
			rc = map_set(&communication, r->events[i].external, 0) ? 0 : -1;
	for (size_t i = 0; i < r->n && rc == 0; i++) {
		enum tb_role role = role_of(&r->events[i], &communication);

		if (role < TB_ROLES)
			spans_add(&r->roles[role], r->events[i].start, r->events[i].end);
	}
	map_release(&communication);
	for (unsigned k = 0; k < TB_ROLES && rc == 0; k++)
		rc = spans_union(&r->roles[k]) < 0 ? -1 : 0;
	return rc;
}

/* ---- steps ---- */

/* Whether an event marks a step.  PyTorch ends its last step with a mark of no duration, which is not a step. */
static bool is_marked(const struct tb_event *e)
{
	return e->type == TB_STEP && e->end > e->start;
}

/* Makes the marked steps.  Without marks one step spans the host events; without host events all events (in the plugin: -1.8e19 us). */
static int find_steps(struct tb_run *r)
{
	struct tb_step whole[2] = { { .start = INT64_MAX, .end = INT64_MIN }, { .start = INT64_MAX, .end = INT64_MIN } };
	size_t marked = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct tb_event *e = &r->events[i];
		bool host = e->type == TB_OP || e->type == TB_PYTHON || e->type == TB_STEP;

		marked += is_marked(e);
		for (unsigned k = host ? 0 : 1; k < 2; k++) {
			whole[k].start = e->start < whole[k].start ? e->start : whole[k].start;
			whole[k].end = e->end > whole[k].end ? e->end : whole[k].end;
		}
	}
	r->steps = calloc(marked + 1, sizeof *r->steps);
	if (!r->steps)
		return -1;
	for (size_t i = 0; i < r->n; i++)
		if (is_marked(&r->events[i]))
			r->steps[r->n_steps++] = (struct tb_step){ .start = r->events[i].start, .end = r->events[i].end,
								   .number = r->events[i].number };
	r->made_up = !marked;
	if (!marked && r->n)
		r->steps[r->n_steps++] = whole[0].start <= whole[0].end ? whole[0] : whole[1];
	return 0;
}

/*
 * Finds the calls inside a step (inside[], by call) and the first start and last end of their GPU events (gpu[], by step).  Goes through
 * both lists once, as the plugin does.  Returns the number of these GPU events.
 */
static size_t find_gpu_side(struct tb_run *r, struct timed *gpu, bool *inside)
{
	size_t step = 0, found = 0;

	for (size_t i = 0; i < r->n_calls && step < r->n_steps;) {
		const struct tb_event *e = &r->events[r->calls[i].event];
		const struct tb_call *c = &r->calls[i];
		struct tb_step *s = &r->steps[step];

		if (e->start >= s->start && e->end <= s->end) {
			inside[i] = true;
			found += c->n;
			if (c->n) {
				gpu[step].time = !s->n || c->first < gpu[step].time ? c->first : gpu[step].time;
				gpu[step].end = !s->n || c->last > gpu[step].end ? c->last : gpu[step].end;
			}
			s->n += c->n;
			i++;
		} else if (e->start < s->end || e->start < s->start) {
			i++;
		} else {
			step++;
		}
	}
	return found;
}

/* Latest end of the GPU events that no step started and that end before the first GPU event of step 0: that step starts no earlier. */
static int64_t ended_before(const struct tb_run *r, const struct timed *gpu, const bool *inside)
{
	int64_t end = r->steps[0].start;

	for (size_t i = 0; r->steps[0].n && i < r->n; i++) {
		const struct tb_event *e = &r->events[i];

		if (tb_is_gpu(e) && (e->link == TB_NONE || !inside[e->link]) && e->end < gpu[0].time && e->end > end)
			end = e->end;
	}
	return end;
}

/* Drops last steps without GPU events, and one with less than 80 % of those of the step before: recording may have ended before the GPU. */
static void drop_tail(struct tb_run *r)
{
	size_t last = r->n_steps;

	while (last && !r->steps[last - 1].n)
		last--;
	if (r->n_steps < 2 || !last)
		return;
	if (last > 1 && r->steps[last - 2].n * 0.8 > r->steps[last - 1].n)
		last--;
	r->n_steps = last;
}

/* Moves the start of a step to the end of the step before, and its end to the end of its last GPU event.  0, or -1: out of memory. */
static int move_steps(struct tb_run *r)
{
	struct timed *gpu = calloc(r->n_steps + 1, sizeof *gpu);
	bool *inside = calloc(r->n_calls + 1, sizeof *inside);
	int rc = gpu && inside ? 0 : -1;

	if (rc == 0 && r->n_steps && find_gpu_side(r, gpu, inside)) {
		int64_t done = ended_before(r, gpu, inside);

		for (size_t i = 0; i < r->n_steps; i++) {
			struct tb_step *s = &r->steps[i];

			if (done > s->start)
				s->start = done;
			if (s->n && gpu[i].end > s->end)
				s->end = gpu[i].end;
			if (s->end < s->start)
				s->end = s->start;
			done = s->end;
		}
		drop_tail(r);
	}
	free(gpu);
	free(inside);
	return rc;
}

/* ---- the time of each step by role ---- */

/* A set with prefix sums of its lengths. */
struct cover {
	const struct spans *set;
	int64_t *upto;                  /* by interval: length of all intervals before it */
};

static int cover_make(struct cover *c, const struct spans *set)
{
	int64_t sum = 0;

	*c = (struct cover){ set, malloc((set->n + 1) * sizeof *c->upto) };
	for (size_t i = 0; c->upto && i < set->n; i++) {
		c->upto[i] = sum;
		sum = time_add(sum, time_sub(set->list[i].end, set->list[i].time));
	}
	return c->upto ? 0 : -1;
}

/* Length of the part of the set before t. */
static int64_t before(const struct cover *c, int64_t t)
{
	size_t low = 0, high = c->set->n;
	int64_t end;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c->set->list[mid].time <= t)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	end = c->set->list[low - 1].end < t ? c->set->list[low - 1].end : t;
	return time_add(c->upto[low - 1], time_sub(end, c->set->list[low - 1].time));
}

static int64_t within(const struct cover *c, const struct tb_step *s)
{
	return time_sub(before(c, s->end), before(c, s->start));
}

/* Sets the member at offset `place` of each step to the length of the part of the set in the step.  0, or -1: out of memory. */
static int share_out(struct tb_run *r, const struct spans *set, size_t place)
{
	struct cover c;

	if (cover_make(&c, set) < 0)
		return -1;
	for (size_t i = 0; i < r->n_steps; i++)
		*(int64_t *)((char *)&r->steps[i] + place) = within(&c, &r->steps[i]);
	free(c.upto);
	return 0;
}
#define SHARE_OUT(r, set, member) share_out((r), (set), offsetof(struct tb_step, member))

/*
 * Divides the time of the steps: each role gets its time without that of the roles before it; the rest is other.  0, or -1: out of memory.
 */
static int divide(struct tb_run *r)
{
	struct spans left = { 0 }, taken = { 0 }, rest = { 0 };
	int rc;

	for (size_t i = 0; i < r->n_steps; i++)
		spans_add(&left, r->steps[i].start, r->steps[i].end);
	rc = spans_union(&left) < 0 ? -1 : 0;
	for (unsigned k = 0; rc == 0 && k < TB_ROLES; k++) {
		struct spans swap = left;

		rc = spans_intersect(&left, &r->roles[k], &taken) < 0 ||
		     share_out(r, &taken, offsetof(struct tb_step, cost) + k * sizeof(int64_t)) < 0 ||
		     spans_subtract(&left, &taken, &rest) < 0 ? -1 : 0;
		if (rc == 0) {
			left = rest;
			rest = swap;
		}
	}
	if (rc == 0)
		rc = SHARE_OUT(r, &left, other);
	spans_release(&left);
	spans_release(&taken);
	spans_release(&rest);
	return rc;
}

/* Computation (kernels; without kernels, operators), communication and their overlap of each step.  0, or -1: out of memory. */
static int beside(struct tb_run *r)
{
	const struct spans *computing = &r->roles[r->roles[TB_ROLE_KERNEL].n ? TB_ROLE_KERNEL : TB_ROLE_CPU];
	struct spans both = { 0 };
	int rc = spans_intersect(computing, &r->roles[TB_ROLE_COMMUNICATION], &both) < 0 || SHARE_OUT(r, &both, overlap) < 0 ||
		 SHARE_OUT(r, computing, computation) < 0 ||
		 SHARE_OUT(r, &r->roles[TB_ROLE_COMMUNICATION], communication) < 0 ? -1 : 0;

	spans_release(&both);
	return rc;
}

int tb_time(struct tb_run *r)
{
	return link_all(r) < 0 || find_roles(r) < 0 || find_steps(r) < 0 || move_steps(r) < 0 || divide(r) < 0 || beside(r) < 0 ? -1 : 0;
}
