/* Steps from the events of phases, by the rules of trace/rules/torchsteps.h. */
#include "cli/model/torch/phases.h"

#include <stdlib.h>

#include "trace/buf.h"
#include "trace/rules/torchsteps.h"

/* An event for torchsteps_feed(). */
struct moment {
	int64_t time;
	enum torchsteps_event event;
	uint32_t thread, number;        /* number: position of the range */
	uint8_t turn;                   /* order at equal times: 0 end of a range that began earlier, 1 begin, 2 end of an empty range */
};

/* By time.  At equal times, ends come before begins; an empty range's end comes right after its begin. */
static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (!x->turn != !y->turn)
		return x->turn ? 1 : -1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->turn > y->turn) - (x->turn < y->turn);
}

static void put_moments(struct buf *moments, const struct phase_event *e, uint32_t number)
{
	static const struct { enum torchsteps_event begins, ends; } of[PHASE_MARKS] = {
		[MARK_DATA] = { TORCHSTEPS_BATCH, TORCHSTEPS_FETCHED }, [MARK_OPTIMIZER] = { TORCHSTEPS_OPTIMIZER, TORCHSTEPS_STEPPED },
		[MARK_ZERO_GRAD] = { TORCHSTEPS_OPTIMIZER, TORCHSTEPS_NOTHING }, [MARK_BACKWARD] = { TORCHSTEPS_NODE, TORCHSTEPS_NOTHING },
	};
	const struct moment begin = { e->start, e->workers ? TORCHSTEPS_WORKERS_BATCH : of[e->mark].begins, e->thread, number, 1 };
	const struct moment end = { e->end, of[e->mark].ends, e->thread, number, e->end > e->start ? 0 : 2 };

	if (begin.event)
		buf_put(moments, &begin, sizeof begin);
	if (end.event)
		buf_put(moments, &end, sizeof end);
}

/* Number of groups of optimizer steps; a backward pass separates groups. */
static size_t count_groups(const struct phase_event *e, size_t n)
{
	size_t groups = 0;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		groups += e[i].mark == MARK_OPTIMIZER && !open;
		open = e[i].mark == MARK_OPTIMIZER || (open && e[i].mark != MARK_BACKWARD);
	}
	return groups;
}

static void put_step(struct buf *steps, const struct torchsteps_answer *a, struct phase_step *open)
{
	struct phase_step *last = steps->len ? (struct phase_step *)(steps->data + steps->len) - 1 : NULL;

	if (a->what == TORCHSTEPS_TRAINS)
		steps->len = 0;
	else if (a->what == TORCHSTEPS_MOVED && last)
		last->end = a->time;
	else if (a->what == TORCHSTEPS_NEXT && open->start < a->time)
		buf_put(steps, &(struct phase_step){ open->start, a->time, open->headless }, sizeof *open);
	*open = (struct phase_step){ .start = a->time, .headless = a->what == TORCHSTEPS_FIRST && !a->batch };
}

/* Without an optimizer, steps go from batch to batch.  The step open at the end is dropped. */
int phases_steps(const struct phase_event *e, size_t n, struct phases *out)
{
	struct torchsteps rule = { .many = count_groups(e, n) > out->seen[MARK_DATA] * TORCHSTEPS_OPTIMIZERS };
	struct buf steps = { 0 };
	struct buf moments = { 0 };
	struct phase_step open = { 0 };
	const struct moment *list;

	for (size_t i = 0; i < n; i++)
		if (!out->inference || e[i].mark == MARK_DATA)
			put_moments(&moments, &e[i], (uint32_t)i);
	list = (const struct moment *)moments.data;
	if (moments.len)
		qsort(moments.data, moments.len / sizeof *list, sizeof *list, by_time);
	for (size_t i = 0; !moments.oom && i < moments.len / sizeof *list; i++) {
		const struct torchsteps_place at = { list[i].time, list[i].time, list[i].thread };
		struct torchsteps_answer a = torchsteps_feed(&rule, list[i].event, &at);

		if (a.what != TORCHSTEPS_NONE)
			put_step(&steps, &a, &open);
	}
	if (moments.oom || steps.oom) {
		buf_free(&moments);
		buf_free(&steps);
		return -1;
	}
	buf_free(&moments);
	out->steps = (struct phase_step *)steps.data;
	out->n_steps = steps.len / sizeof *out->steps;
	return 0;
}
