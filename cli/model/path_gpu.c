#include "cli/model/path_inside.h"

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

/* A queue's rows run as they were launched.  One whose call is not known was launched no earlier than the one before it. */
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

int path_gpu_make(struct path_gpu *g, struct path_in *in)
{
	g->in = in;
	g->first = malloc((in->n_queues + 1) * sizeof *g->first);
	g->first_order = malloc((in->n_queues + 1) * sizeof *g->first_order);
	g->latest = malloc((in->n_rows + 1) * sizeof *g->latest);
	g->named = calloc(in->n_rows + 1, sizeof *g->named);
	g->in_batch = malloc((in->n_rows + 1) * sizeof *g->in_batch);
	g->place = calloc(in->n_rows + 1, sizeof *g->place);
	if (!g->first || !g->first_order || !g->latest || !g->named || !g->in_batch || !g->place)
		return -1;
	if (in->n_rows)
		qsort(in->rows, in->n_rows, sizeof *in->rows, by_queue);
	if (in->n_orders)
		qsort(in->orders, in->n_orders, sizeof *in->orders, by_when);
	if (in->n_guesses)
		qsort(in->guesses, in->n_guesses, sizeof *in->guesses, by_thread);
	find_queues(g);
	find_batches(g);
	return 0;
}

void path_gpu_release(struct path_gpu *g)
{
	free(g->first);
	free(g->first_order);
	free(g->latest);
	free(g->named);
	free(g->in_batch);
	free(g->place);
	*g = (struct path_gpu){ .in = NULL };
}

/* ---- what had been given to a queue ---- */

/* The last row of a queue that was launched before a time, or PATH_NONE. */
static uint32_t last_launched(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	size_t low = g->first[queue], high = g->first[queue + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->latest[mid] < when)
			low = mid + 1;
		else
			high = mid;
	}
	return low > g->first[queue] ? (uint32_t)(low - 1) : PATH_NONE;
}

static uint32_t later(const struct path_gpu *g, uint32_t a, uint32_t b)
{
	if (a == PATH_NONE || b == PATH_NONE)
		return a == PATH_NONE ? b : a;
	return g->in->rows[b].end > g->in->rows[a].end ? b : a;
}

#define DEEPEST 64u             /* orders that wait for orders */

static uint32_t done(const struct path_gpu *g, uint32_t queue, int64_t when, unsigned depth);

/* Of what a queue was told to wait for in from <= time < to, the row that ended last. */
static uint32_t ordered(const struct path_gpu *g, uint32_t queue, int64_t from, int64_t to, unsigned depth)
{
	const struct path_order *list = g->in->orders;
	size_t low = g->first_order[queue], high = g->first_order[queue + 1];
	uint32_t found = PATH_NONE;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].when < from)
			low = mid + 1;
		else
			high = mid;
	}
	for (high = g->first_order[queue + 1]; low < high && list[low].when < to && depth < DEEPEST; low++)
		if (list[low].recorded <= list[low].when)
			found = later(g, found, done(g, list[low].on, list[low].recorded, depth + 1));
	return found;
}

static uint32_t done(const struct path_gpu *g, uint32_t queue, int64_t when, unsigned depth)
{
	uint32_t last = last_launched(g, queue, when);

	return later(g, last, ordered(g, queue, last == PATH_NONE ? PATH_NEVER : g->latest[last], when, depth));
}

/* The legacy default stream and the blocking ones wait for each other. */
static bool wait_for_each_other(const struct path_queue *a, const struct path_queue *b)
{
	return a->context == b->context && a->kind != QUEUE_ALONE && b->kind != QUEUE_ALONE && a->kind != b->kind;
}

static uint32_t done_by_others(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	const struct path_in *in = g->in;
	uint32_t found = PATH_NONE;

	for (uint32_t q = 0; q < in->n_queues; q++)
		if (wait_for_each_other(&in->queues[queue], &in->queues[q]))
			found = later(g, found, last_launched(g, q, when));
	return found;
}

uint32_t path_done(const struct path_gpu *g, uint32_t queue, int64_t when)
{
	return later(g, done(g, queue, when, 0), done_by_others(g, queue, when));
}

/* The last row of a queue up to one that had ended, or PATH_NONE: of those that have begun, one at most runs. */
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
	while (low > g->first[queue] && g->in->rows[low - 1].end > until)
		low--;
	return low > g->first[queue] ? (uint32_t)(low - 1) : PATH_NONE;
}

/* Of all queues the row that had been launched and had ended last. */
static uint32_t ended_last(const struct path_gpu *g, int64_t launched, int64_t until)
{
	uint32_t found = PATH_NONE;

	for (uint32_t q = 0; q < g->in->n_queues; q++) {
		uint32_t row = last_launched(g, q, launched);

		if (row != PATH_NONE && g->in->rows[row].end > until)
			row = ended_by(g, q, row, until);
		found = later(g, found, row);
	}
	return found;
}

/* ---- waits of threads ---- */

/* Of all queues, or those of a context: the row that ended last. */
static uint32_t done_by_all(const struct path_gpu *g, const struct path_wait *w)
{
	uint32_t found = PATH_NONE;

	for (uint32_t q = 0; q < g->in->n_queues; q++) {
		uint32_t row;

		if (w->what == FOR_CONTEXT && g->in->queues[q].context != w->of)
			continue;
		row = done(g, q, w->recorded, 0);
		/* What ran on was not waited for. */
		if (row != PATH_NONE && w->what == FOR_ANY_QUEUE && g->in->rows[row].end > time_add(w->end, PATH_SLACK))
			continue;
		found = later(g, found, row);
	}
	return found;
}

/*
 * The driver keeps room for so many launches of a stream, less a few; with more under way the next one waits for a row to
 * end.
 */
#define FULL 1000u

void path_full(const struct path_gpu *g, void (*each)(uint32_t row, uint32_t ended, void *arg), void *arg)
{
	const struct path_row *rows = g->in->rows;

	for (uint32_t q = 0; q < g->in->n_queues; q++) {
		size_t begun = g->first[q], in_graphs = 0;

		for (size_t i = begun; i < g->first[q + 1]; i++) {
			const struct path_row *r = &rows[i];
			size_t ended;

			in_graphs += r->batch != 0;     /* one launch, however many rows */
			while (begun < i && rows[begun].start <= r->launched)
				begun++;
			if (r->launched == PATH_NEVER || in_graphs || i - begun < FULL)
				continue;
			for (ended = begun; ended < i && rows[ended].end <= r->returned; ended++)
				;
			if (ended > g->first[q])
				each((uint32_t)i, (uint32_t)(ended - 1), arg);
		}
	}
}

/* A call that returned before its row had ended did not wait for it. */
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

/* ---- what rows wait for ---- */

/* Of its launch the row that had ended last when this one began: which of them it waited for is nowhere recorded. */
static uint32_t before_in_batch(const struct path_gpu *g, uint32_t row)
{
	const struct path_row *rows = g->in->rows;
	size_t i = g->place[row];

	if (!rows[row].batch)
		return PATH_NONE;
	while (i && rows[g->in_batch[i - 1]].batch == rows[row].batch) {
		i--;
		if (rows[g->in_batch[i]].end <= rows[row].start)
			return g->in_batch[i];
	}
	return PATH_NONE;
}

/* What ended clearly after the row had begun was not waited for. */
static uint32_t if_before(const struct path_gpu *g, uint32_t other, uint32_t row)
{
	const struct path_row *rows = g->in->rows;

	return other != PATH_NONE && other != row && rows[other].end <= time_add(rows[row].start, PATH_SLACK) ? other : PATH_NONE;
}

/* Whether the row's thread told a queue to wait for something between two launches. */
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
 * Of all queues the row that had ended last: nothing says what this one waited for.  No row without a length, two of which at one time would wait for
 * each other.
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

		found = later(g, found, if_before(g, ordered(g, r->queue, from, r->launched, 0), row));
		found = later(g, found, if_before(g, done_by_others(g, r->queue, r->launched), row));
		if (guessed(g, r->thread, from, r->launched))
			found = later(g, found, if_before(g, ended_last(g, r->launched, r->start), row));
	}
	if (r->launched == PATH_NEVER)
		found = later(g, found, before_unlaunched(g, row));
	return later(g, found, before_in_batch(g, row));
}
