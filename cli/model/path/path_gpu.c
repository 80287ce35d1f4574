#include "cli/model/path/path_inside.h"

#include <stdlib.h>

static int by_queue(const void *a, const void *b)
{
	const struct path_row *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->launched != y->launched)
		return x->launched < y->launched ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static int by_when(const void *a, const void *b)
{
	const struct path_order *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	return x->when < y->when ? -1 : x->when > y->when;
}

static int by_thread(const void *a, const void *b)
{
	const struct path_guess *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->when < y->when ? -1 : x->when > y->when;
}

static int by_batch(const void *a, const void *b, void *arg)
{
	const struct path_row *rows = arg, *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];

	if (x->batch != y->batch)
		return x->batch < y->batch ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void find_batches(struct path_gpu *g)
{
	const struct path_in *in = g->in;

	for (size_t i = 0; i < in->n_rows; i++)
		if (in->rows[i].batch)
			g->in_batch[g->n_in_batch++] = (uint32_t)i;
	if (g->n_in_batch)
		qsort_r(g->in_batch, g->n_in_batch, sizeof *g->in_batch, by_batch, in->rows);
	for (size_t i = 0; i < g->n_in_batch; i++)
		g->place[g->in_batch[i]] = (uint32_t)i;
}

/* Fills `latest` of a queue.  Rows run in launch order; a row with an unknown call was launched no earlier than the row before it. */
static void find_launches(struct path_gpu *g, size_t from, size_t to)
{
	int64_t latest = PATH_NEVER;

	for (size_t i = from; i < to; i++) {
		const struct path_row *r = &g->in->rows[i];

		g->named[r->what] = (uint32_t)i;
		latest = r->launched > latest ? r->launched : latest;
		g->latest[i] = latest;
	}
}

static void find_queues(struct path_gpu *g)
{
	const struct path_in *in = g->in;
	size_t row = 0, order = 0;

	for (size_t q = 0; q <= in->n_queues; q++) {
		g->first[q] = row;
		g->first_order[q] = order;
		while (row < in->n_rows && in->rows[row].queue == q)
			row++;
		find_launches(g, g->first[q], row);
		while (order < in->n_orders && in->orders[order].queue == q)
			order++;
	}
}

static int find_awaited(struct path_gpu *g);

int path_gpu_make(struct path_gpu *g, struct path_in *in)
{
	g->in = in;
	g->effort = &in->effort;
	g->first = malloc((in->n_queues + 1) * sizeof *g->first);
	g->first_order = malloc((in->n_queues + 1) * sizeof *g->first_order);
	g->latest = malloc((in->n_rows + 1) * sizeof *g->latest);
	g->named = calloc(in->n_rows + 1, sizeof *g->named);
	g->in_batch = malloc((in->n_rows + 1) * sizeof *g->in_batch);
	g->place = calloc(in->n_rows + 1, sizeof *g->place);
	g->awaited = malloc((in->n_orders + 1) * sizeof *g->awaited);
	if (!g->first || !g->first_order || !g->latest || !g->named || !g->in_batch || !g->place || !g->awaited)
		return -1;
	if (in->n_rows)
		qsort(in->rows, in->n_rows, sizeof *in->rows, by_queue);
	if (in->n_orders)
		qsort(in->orders, in->n_orders, sizeof *in->orders, by_when);
	if (in->n_guesses)
		qsort(in->guesses, in->n_guesses, sizeof *in->guesses, by_thread);
	find_queues(g);
	find_batches(g);
	return find_awaited(g);
}

void path_gpu_release(struct path_gpu *g)
{
	free(g->first);
	free(g->first_order);
	free(g->latest);
	free(g->named);
	free(g->in_batch);
	free(g->place);
	free(g->awaited);
	*g = (struct path_gpu){ .in = NULL };
}

/* Whether n more queues or rows may be examined; counts them. */
static bool may_look(const struct path_gpu *g, size_t n)
{
	struct path_effort *e = g->effort;

	if (e->looks + n > PATH_LOOKS) {
		e->refused++;
		return false;
	}
	e->looks += n;
	return true;
}

/* ---- rows launched into a queue ---- */

/* End of the rows of a queue that were launched up to a time, or (excluding) before it. */
static size_t launched_up_to(const struct path_gpu *g, uint32_t queue, int64_t when, bool excluding)
{
	size_t low = g->first[queue], high = g->first[queue + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->latest[mid] < when || (!excluding && g->latest[mid] == when))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The last row of a queue that was launched before a time, or PATH_NONE. */
static uint32_t last_launched(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	size_t n = launched_up_to(g, queue, when, true);

	return n > g->first[queue] ? (uint32_t)(n - 1) : PATH_NONE;
}

static uint32_t later(const struct path_gpu *g, uint32_t a, uint32_t b)
{
	if (a == PATH_NONE || b == PATH_NONE)
		return a == PATH_NONE ? b : a;
	return g->in->rows[b].end > g->in->rows[a].end ? b : a;
}

/* The last row that the queue was told to wait for between its last launch before a time and that time, or PATH_NONE. */
static uint32_t ordered(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	const struct path_order *list = g->in->orders;
	size_t low = g->first_order[queue], high = g->first_order[queue + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].when < when)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == g->first_order[queue] || launched_up_to(g, queue, list[low - 1].when, false) != launched_up_to(g, queue, when, true))
		return PATH_NONE;
	return g->awaited[low - 1];
}

static uint32_t done(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	return later(g, last_launched(g, queue, when), ordered(g, queue, when));
}

static int by_time(const void *a, const void *b, void *arg)
{
	const struct path_order *list = arg, *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Fills `awaited`, in order of time: the rows and orders that an order waits for are older than the order. */
static int find_awaited(struct path_gpu *g)
{
	const struct path_order *list = g->in->orders;
	size_t n = g->in->n_orders;
	uint32_t *turn = malloc((n + 1) * sizeof *turn);

	for (size_t i = 0; turn && i < n; i++)
		turn[i] = (uint32_t)i;
	if (turn && n)
		qsort_r(turn, n, sizeof *turn, by_time, g->in->orders);
	for (size_t i = 0; turn && i < n; i++) {
		uint32_t at = turn[i], queue = list[at].queue;

		g->awaited[at] = list[at].recorded <= list[at].when ? done(g, list[at].on, list[at].recorded) : PATH_NONE;
		if (at > g->first_order[queue] && launched_up_to(g, queue, list[at - 1].when, false) == launched_up_to(g, queue, list[at].when, false))
			g->awaited[at] = later(g, g->awaited[at - 1], g->awaited[at]);
	}
	free(turn);
	return turn ? 0 : -1;
}

/* Whether two queues wait for each other: the legacy default stream and a blocking stream of its context. */
static bool wait_for_each_other(const struct path_queue *a, const struct path_queue *b)
{
	return a->context == b->context && a->kind != QUEUE_ALONE && b->kind != QUEUE_ALONE && a->kind != b->kind;
}

static uint32_t done_by_others(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	const struct path_in *in = g->in;
	uint32_t found = PATH_NONE;

	if (in->queues[queue].kind == QUEUE_ALONE || !may_look(g, in->n_queues))
		return PATH_NONE;
	for (uint32_t q = 0; q < in->n_queues; q++)
		if (wait_for_each_other(&in->queues[queue], &in->queues[q]))
			found = later(g, found, last_launched(g, q, when));
	return found;
}

uint32_t path_done(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	return later(g, done(g, queue, when), done_by_others(g, queue, when));
}

/* The last row of a queue, up to row `last`, that had ended at a time, or PATH_NONE. */
static uint32_t ended_by(const struct path_gpu *g, uint32_t queue, uint32_t last, int64_t until)
{
	size_t low = g->first[queue], high = last + 1;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->in->rows[mid].start <= until)
			low = mid + 1;
		else
			high = mid;
	}
	while (low > g->first[queue] && g->in->rows[low - 1].end > until) {
		g->effort->looks++;
		low--;
	}
	return low > g->first[queue] ? (uint32_t)(low - 1) : PATH_NONE;
}

/* Of the rows of all queues launched before one time and ended at another: the row that ended last, or PATH_NONE. */
static uint32_t ended_last(const struct path_gpu *g, int64_t launched, int64_t until)
{
	uint32_t found = PATH_NONE;

	if (!may_look(g, g->in->n_queues))
		return PATH_NONE;
	for (uint32_t q = 0; q < g->in->n_queues; q++) {
		uint32_t row = last_launched(g, q, launched);

		if (row != PATH_NONE && g->in->rows[row].end > until)
			row = ended_by(g, q, row, until);
		found = later(g, found, row);
	}
	return found;
}

/* ---- waits of threads ---- */

/* Of the rows launched into all queues, or into those of a context, before the wait: the row that ended last. */
static uint32_t done_by_all(const struct path_gpu *g, const struct path_wait *w)
{
	uint32_t found = PATH_NONE;

	if (!may_look(g, g->in->n_queues))
		return PATH_NONE;
	for (uint32_t q = 0; q < g->in->n_queues; q++) {
		uint32_t row;

		if (w->what == FOR_CONTEXT && g->in->queues[q].context != w->of)
			continue;
		row = done(g, q, w->recorded);
		/* A row that ran on after the wait was not waited for. */
		if (row != PATH_NONE && w->what == FOR_ANY_QUEUE && g->in->rows[row].end > time_add(w->end, PATH_SLACK))
			continue;
		found = later(g, found, row);
	}
	return found;
}

/* A stream's queue holds a few more launches than this; with that many pending, the next launch waits until a row ends. */
#define FULL 1000u

void path_full(const struct path_gpu *g, void (*each)(uint32_t row, uint32_t ended, void *arg), void *arg)
{
	const struct path_row *rows = g->in->rows;

	for (uint32_t q = 0; q < g->in->n_queues; q++) {
		size_t begun = g->first[q], in_graphs = 0;

		for (size_t i = begun; i < g->first[q + 1]; i++) {
			const struct path_row *r = &rows[i];
			size_t ended;

			in_graphs += r->batch != 0;     /* a graph launch has many rows, so they do not count launches */
			while (begun < i && rows[begun].start <= r->launched)
				begun++;
			if (r->launched == PATH_NEVER || in_graphs || i - begun < FULL || !may_look(g, 1))
				continue;
			for (ended = begun; ended < i && rows[ended].end <= r->returned; ended++)
				g->effort->looks++;
			if (ended > g->first[q])
				each((uint32_t)i, (uint32_t)(ended - 1), arg);
		}
	}
}

/* The row that a call waits for, or PATH_NONE if the call returned before the row ended. */
static uint32_t own_row(const struct path_gpu *g, const struct path_wait *w)
{
	uint32_t row = w->of < g->in->n_rows ? g->named[w->of] : PATH_NONE;

	return row != PATH_NONE && g->in->rows[row].end <= time_add(w->end, PATH_SLACK) ? row : PATH_NONE;
}

uint32_t path_awaited(const struct path_gpu *g, const struct path_wait *w)
{
	switch (w->what) {
	case FOR_ROW:       return own_row(g, w);
	case FOR_QUEUE:     return path_done(g, w->of, w->recorded);
	case FOR_CONTEXT:
	case FOR_ANY_QUEUE: return done_by_all(g, w);
	case FOR_ANY_ROW:   return ended_last(g, w->recorded, time_add(w->end, PATH_SLACK));
	default:            return PATH_NONE;
	}
}

/* ---- predecessors of rows ---- */

/* In its graph launch, the row that had ended last when this row began; edges of graphs are not recorded. */
static uint32_t before_in_batch(const struct path_gpu *g, uint32_t row)
{
	const struct path_row *rows = g->in->rows, *r = &rows[row];
	size_t low = 0, high = g->place[row];

	if (!r->batch)
		return PATH_NONE;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct path_row *other = &rows[g->in_batch[mid]];

		if (other->batch < r->batch || other->end <= r->start)
			low = mid + 1;
		else
			high = mid;
	}
	return low && rows[g->in_batch[low - 1]].batch == r->batch ? g->in_batch[low - 1] : PATH_NONE;
}

/* `other`, or PATH_NONE if it ended after the row began (plus PATH_SLACK) and so was not waited for. */
static uint32_t if_before(const struct path_gpu *g, uint32_t other, uint32_t row)
{
	const struct path_row *rows = g->in->rows;

	return other != PATH_NONE && other != row && rows[other].end <= time_add(rows[row].start, PATH_SLACK) ? other : PATH_NONE;
}

/* Whether the thread made a stream wait with unknown event between two times. */
static bool guessed(const struct path_gpu *g, uint32_t thread, int64_t from, int64_t to)
{
	const struct path_guess *list = g->in->guesses, wanted = { from, thread };
	size_t low = 0, high = g->in->n_guesses;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_thread(&list[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->in->n_guesses && list[low].thread == thread && list[low].when < to;
}

/*
 * Predecessor of a row without a call: of all queues, the row that had ended last.  Rows of length 0 are excluded: two of them at one
 * time would wait for each other.
 */
static uint32_t before_unlaunched(const struct path_gpu *g, uint32_t row)
{
	const struct path_row *rows = g->in->rows;
	uint32_t other = ended_last(g, INT64_MAX, rows[row].start);

	return other != PATH_NONE && rows[other].start < rows[other].end ? other : PATH_NONE;
}

uint32_t path_before(const struct path_gpu *g, uint32_t row)
{
	const struct path_row *r = &g->in->rows[row];
	bool first = row == g->first[r->queue];
	uint32_t found = first ? PATH_NONE : row - 1;

	if (r->launched != PATH_NEVER) {
		int64_t from = first ? PATH_NEVER : g->latest[row - 1];

		if (from < r->launched)
			found = later(g, found, if_before(g, ordered(g, r->queue, r->launched), row));
		found = later(g, found, if_before(g, done_by_others(g, r->queue, r->launched), row));
		if (guessed(g, r->thread, from, r->launched))
			found = later(g, found, if_before(g, ended_last(g, r->launched, r->start), row));
	}
	if (r->launched == PATH_NEVER)
		found = later(g, found, before_unlaunched(g, row));
	return later(g, found, before_in_batch(g, row));
}
