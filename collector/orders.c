#include "collector/orders.h"

#include <sys/timerfd.h>

#include "collector/board.h"
#include "trace/clock.h"

#define MS 1000000ll

static uint32_t changed(uint32_t mask, uint32_t set, uint32_t clear)
{
	return (mask | set) & ~clear;
}

/* Gives an order to one process, or to all (only NULL).  A process that had an order of its own keeps the bits that are not named. */
static void give(struct orders *o, struct tree_process *only, uint32_t set, uint32_t clear, bool over)
{
	struct tree *t = o->tree;
	uint32_t before = only ? orders_of(o, only) : o->mask;

	t->n_windows += !before && changed(before, set, clear);
	if (!only) {
		o->mask = changed(before, set, clear);
		capture_order(&t->capture, o->mask, over, t->n_windows);
		if (t->board)
			board_tell(t->board, &t->capture);
	}
	for (size_t i = 0; i < t->n_live; i++) {
		struct connected_guest *g = t->live[i]->guest;

		if (!g || (only && t->live[i] != only))
			continue;
		capture_order(&g->capture, changed(capture_mask(&g->capture), set, clear), over, t->n_windows);
		guest_tell(t->live[i], &g->capture);
	}
}

static int64_t begin_turn(const struct orders *o)
{
	const struct config *c = o->tree->config;

	return o->over || o->begun || c->start_later ? 0 : o->start + (int64_t)c->delay_ms * MS;
}

static int64_t end_turn(const struct orders *o)
{
	const struct config *c = o->tree->config;

	return !o->over && o->on && c->duration_ms ? o->on + (int64_t)c->duration_ms * MS : 0;
}

/* Returns when the settings next change what is recorded, in MONOTONIC ns; 0: never. */
static int64_t next_turn(const struct orders *o)
{
	int64_t begin = begin_turn(o), end = end_turn(o);

	return !begin || (end && end < begin) ? end : begin;
}

static void set_timer(struct orders *o)
{
	int64_t next = next_turn(o);
	struct itimerspec at = { .it_value = { .tv_sec = next / (1000 * MS), .tv_nsec = next % (1000 * MS) } };

	timerfd_settime(o->turn, TFD_TIMER_ABSTIME, &at, NULL);
}

static void begin_recording(struct orders *o)
{
	if (!o->on)
		o->on = clock_ns(CLOCK_MONOTONIC);
}

void orders_turn(struct orders *o)
{
	int64_t begin = begin_turn(o), end = end_turn(o), now = clock_ns(CLOCK_MONOTONIC);

	if (end && now >= end) {
		orders_end(o);
		return;
	}
	if (begin && now >= begin) {
		begin_recording(o);
		o->begun = true;
		give(o, NULL, ORDER_ALL, 0, false);
	}
	set_timer(o);
}

void orders_begin(struct orders *o, struct tree *tree, int turn, int64_t start)
{
	*o = (struct orders){ .tree = tree, .turn = turn, .start = start };
	if (tree->config->delay_ms || tree->config->start_later)
		give(o, NULL, 0, ORDER_ALL, false);
	orders_turn(o);
}

void orders_end(struct orders *o)
{
	if (!o->over) {
		o->over = true;
		give(o, NULL, 0, ORDER_ALL, true);
	}
	set_timer(o);
}

uint32_t orders_of(const struct orders *o, const struct tree_process *p)
{
	return p->guest ? capture_mask(&p->guest->capture) : o->mask;
}

uint32_t orders_anywhere(const struct orders *o)
{
	uint32_t mask = o->mask;

	for (size_t i = 0; i < o->tree->n_live; i++)
		mask |= orders_of(o, o->tree->live[i]);
	return mask;
}

bool orders_change(struct orders *o, struct tree_process *only, uint32_t set, uint32_t clear)
{
	if (o->over || (only && !only->guest))
		return false;
	if (set)
		begin_recording(o);
	o->begun |= set && !only;
	give(o, only, set, clear, false);
	set_timer(o);
	return true;
}

bool orders_followed(const struct tree_process *p)
{
	return !p->guest || __atomic_load_n(&p->guest->view.a->orders_seen, __ATOMIC_ACQUIRE) == p->guest->capture.n_orders;
}
