#include "inject/capture/open_slots.h"

#include "inject/capture/keep_intervals.h"

void open_slots_write_step(struct stream *s, struct open_step *o)
{
	struct step_row *row = s ? stream_reserve(s, ROW_step, sizeof *row) : NULL;

	if (row) {
		*row = o->row;
		stream_publish(s, row);
	}
	__atomic_store_n(&o->state, 0, __ATOMIC_RELEASE);
}

static void write_window(struct stream *s, struct open_window *o)
{
	struct window_row *row = s ? stream_reserve(s, ROW_window, sizeof *row) : NULL;

	if (row) {
		*row = o->row;
		stream_publish(s, row);
	}
	__atomic_store_n(&o->state, 0, __ATOMIC_RELEASE);
}

static bool is_due(uint32_t state)
{
	return (state & OPEN_USED) && !(state & (OPEN_RUNNING | OPEN_END | OPEN_HELD));
}

void open_slots_call(struct stream *s, uint32_t corr)
{
	struct arena *a = guest->arena;

	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++) {
		struct open_step *o = &a->steps[i];

		o->state = open_set_corr(o->state, corr, &o->row.first_corr, &o->row.end_corr);
		if (is_due(o->state))
			open_slots_write_step(s, o);
	}
	for (unsigned i = 0; i < MAX_OPEN_WINDOWS; i++) {
		struct open_window *o = &a->windows[i];

		o->state = open_set_corr(o->state, corr, &o->row.first_corr, &o->row.end_corr);
		if (is_due(o->state))
			write_window(s, o);
	}
	keep_intervals_call(corr);
}

struct open_step *open_slots_step(struct stream *s)
{
	struct open_step *all = guest->arena->steps, *o = NULL;

	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++) {
		if (!all[i].state)
			return &all[i];
		if (!(all[i].state & (OPEN_RUNNING | OPEN_HELD)) && (!o || (all[i].state & OPEN_FIRST && !(o->state & OPEN_FIRST))))
			o = &all[i];
	}
	if (o)
		open_slots_write_step(s, o);
	else
		health_drop(ROW_step, 1);
	return o;
}

struct open_window *open_slots_window(struct stream *s)
{
	struct open_window *all = guest->arena->windows, *o = &all[0];

	/* No window is running when this is called, so each used slot waits only for a call. */
	for (unsigned i = 0; i < MAX_OPEN_WINDOWS; i++) {
		if (!all[i].state)
			return &all[i];
		if (all[i].state & OPEN_FIRST && !(o->state & OPEN_FIRST))
			o = &all[i];
	}
	write_window(s, o);
	return o;
}

bool open_slots_edge(void)
{
	const struct arena *a = guest->arena;
	uint32_t all = keep_intervals_edges();

	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++)
		all |= a->steps[i].state;
	for (unsigned i = 0; i < MAX_OPEN_WINDOWS; i++)
		all |= a->windows[i].state;
	return all & (OPEN_FIRST | OPEN_END);
}

struct open_step *open_slots_step_before(const struct open_step *o)
{
	struct open_step *all = guest->arena->steps;

	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++)
		if (all[i].state & OPEN_USED && all[i].kind == o->kind && all[i].row.number + 1 == o->row.number)
			return &all[i];
	return NULL;
}
