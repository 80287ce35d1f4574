#include "collector/salvage.h"

#include <string.h>

#include "collector/clocks.h"
#include "collector/drain.h"
#include "collector/arena_replica.h"
#include "trace/health.h"

/* True if the range's row was written: the process was killed before it took the range off the stack. */
static bool is_written(const struct connected_guest *g, uint64_t id)
{
	for (uint32_t i = 0; i < arena_n_blocks(&g->view); i++)
		if (g->blocks[i].last_range == id)
			return true;
	return false;
}

static void write_range(struct connected_guest *g, const struct open_range *o, unsigned flags, uint32_t level)
{
	struct range_row row = {
		.start = o->start,
		.duration = o->start >= 0 && g->last_time > o->start ? g->last_time - o->start : 0,
		.id = o->id,
		.payload = o->payload,
		.thread = o->thread,
		.end_thread = o->thread,
		.domain = o->domain,
		.category = o->category,
		.name = o->name,
		.color = o->color,
		.payload_type = o->payload_type,
		.level = level,
		.flags = flags | RANGE_INCOMPLETE,
		.step = o->step,
	};

	staging_put(&g->staging, record_by_kind(ROW_range), &row, NULL, 0);
}

/* The process lived at least until its open ranges began, but not longer than until now. */
static void bound_time(struct connected_guest *g, const struct open_range *o, int64_t now)
{
	if (o->id && o->start > g->last_time && o->start <= now)
		g->last_time = o->start;
}

static uint32_t depth_of(const struct slot *s)
{
	uint32_t depth = __atomic_load_n(&s->depth, __ATOMIC_ACQUIRE);

	if (!__atomic_load_n(&s->owner, __ATOMIC_RELAXED))
		return 0;
	return depth < MAX_DEPTH ? depth : MAX_DEPTH;
}

/* Slots are taken from the lowest up, so at most as many were used as there were threads. */
static uint32_t n_slots(const struct arena *a)
{
	return a->next_thread < MAX_SLOTS ? a->next_thread : MAX_SLOTS;
}

static void find_last_time(struct connected_guest *g)
{
	const struct arena *a = g->view.a;
	int64_t now = clocks_now(g->staging.clock);

	if (a->last_time > g->last_time)
		g->last_time = a->last_time;
	/* A killed process lived until now, or until shortly before. */
	if (g->last_time > now || __atomic_load_n(&a->life, __ATOMIC_RELAXED) < LIFE_ENDED)
		g->last_time = now;
	for (uint32_t i = 0; i < n_slots(a); i++)
		for (uint32_t d = 0; d < depth_of(&a->slots[i]); d++)
			bound_time(g, &a->slots[i].stack[d], now);
	for (uint32_t i = 0; a->next_started && i < MAX_STARTED; i++)
		bound_time(g, &a->started[i], now);
}

static uint64_t salvage_ranges(struct connected_guest *g)
{
	const struct arena *a = g->view.a;
	uint64_t n = 0;

	for (uint32_t i = 0; i < n_slots(a); i++) {
		for (uint32_t d = 0; d < depth_of(&a->slots[i]); d++) {
			struct open_range o = a->slots[i].stack[d];

			if (!o.id || is_written(g, o.id))
				continue;
			write_range(g, &o, 0, d);
			n++;
		}
	}
	for (uint32_t i = 0; a->next_started && i < MAX_STARTED; i++) {
		struct open_range o = a->started[i];

		/* Ids have a thread number from bit 40 on; a smaller one is a slot that was being filled. */
		if (o.id >> 40 == 0 || is_written(g, o.id))
			continue;
		write_range(g, &o, RANGE_STARTEND, 0);
		n++;
	}
	return n;
}

/* Reads from a copy: the program may overwrite its arena at any time. */
static void salvage_steps(struct connected_guest *g)
{
	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++) {
		struct open_step o = g->view.a->steps[i];

		if (!(o.state & OPEN_USED))
			continue;
		if (o.state & OPEN_RUNNING) {
			o.row.duration = o.row.start >= 0 && g->last_time > o.row.start ? g->last_time - o.row.start : 0;
			o.row.flags |= STEP_INCOMPLETE;
		}
		staging_put(&g->staging, record_by_kind(ROW_step), &o.row, NULL, 0);
	}
}

static void salvage_windows(struct connected_guest *g)
{
	for (unsigned i = 0; i < MAX_OPEN_WINDOWS; i++) {
		struct open_window o = g->view.a->windows[i];

		if (!(o.state & OPEN_USED) || o.state & OPEN_WHOLE)
			continue;
		if (o.state & OPEN_RUNNING) {
			o.row.duration = o.row.start >= 0 && g->last_time > o.row.start ? g->last_time - o.row.start : 0;
			o.row.flags |= o.state & OPEN_CUT ? WINDOW_INCOMPLETE : 0;
		}
		staging_put(&g->staging, record_by_kind(ROW_window), &o.row, NULL, 0);
	}
}

void salvage(struct tree_process *p, bool alive)
{
	struct connected_guest *g = p->guest;
	int64_t now = clocks_now(p->clock);
	uint64_t open;

	if (g->replica && g->replica->left) {
		health_counts_add(&p->health_counts, HEALTH_pipe_left, g->replica->left, now, NULL);
		g->view.a->life = LIFE_ENDED;   /* it would have reported this after the missing rows */
	}
	drain(p, DRAIN_ALL);
	find_last_time(g);
	open = salvage_ranges(g);
	salvage_steps(g);
	salvage_windows(g);
	if (alive)              /* the trace is closed before the process ends */
		return;
	if (open)
		health_counts_add(&p->health_counts, HEALTH_ranges_open, open, now, NULL);
	if (g->view.a->life == LIFE_ENDED)
		p->flags |= PROCESS_CLEAN;
	else if ((process_flags(p) & PROCESS_CUPTI))
		health_counts_add(&p->health_counts, HEALTH_ended_early, 1, now, NULL);
	if (g->replica && g->view.a->life != LIFE_ENDED)
		health_counts_add(&p->health_counts, HEALTH_pipe_cut, 1, now, NULL);
}
