/* queue_length, queue_length_series, queue_full: queue depth of each stream ("GPU quantities" in docs/reference/numbers.md). */
#include "cli/report/job/job_launch.h"

#include <stdlib.h>

#define FULL 1024               /* launches in a queue that counts as full, as in HTA (hta_queue.c) */

/* The launches of one stream. */
struct job_queue {
	const struct launch *launches;
	const uint32_t *enters;         /* positions in launches, by start of the call */
	struct timed *leaves;           /* by time: start of the first GPU row, or of the call if that is later */
	size_t n;
};

static int64_t enter(const struct job_queue *q, size_t i)
{
	return q->launches[q->enters[i]].call;
}

static const struct gpu_row *on(const struct job_queue *q)
{
	return &q->launches[q->enters[0]].first;
}

static int by_stream(const void *a, const void *b, void *launches)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
	const struct launch *x = (const struct launch *)launches + p, *y = (const struct launch *)launches + q;

	if (x->first.process != y->first.process)
		return x->first.process < y->first.process ? -1 : 1;
	if (x->first.device != y->first.device)
		return x->first.device < y->first.device ? -1 : 1;
	if (x->first.stream != y->first.stream)
		return x->first.stream < y->first.stream ? -1 : 1;
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return (p > q) - (p < q);
}

typedef int put_fn(struct table *t, const struct job *j, const struct job_rank *r, const struct job_queue *q);

/* Makes q->leaves and calls put.  Returns 0, or -1 when put returned it or out of memory. */
static int put_queue(struct table *t, const struct job *j, const struct job_rank *r, struct job_queue *q, put_fn *put)
{
	int rc;

	q->leaves = malloc((q->n + 1) * sizeof *q->leaves);
	if (!q->leaves)
		return -1;
	for (size_t i = 0; i < q->n; i++) {
		int64_t start = q->launches[q->enters[i]].first.start;

		q->leaves[i] = (struct timed){ .time = start > enter(q, i) ? start : enter(q, i) };
	}
	rc = timed_sort(q->leaves, q->n) < 0 ? -1 : put(t, j, r, q);
	free(q->leaves);
	return rc;
}

static int put_rank(struct table *t, const struct job *j, const struct job_rank *r, put_fn *put)
{
	struct launches all;
	int rc = job_launches(r, &all);
	uint32_t *order = rc == 0 ? malloc((all.n + 1) * sizeof *order) : NULL;

	if (!order)
		rc = -1;
	for (size_t i = 0; order && i < all.n; i++)
		order[i] = (uint32_t)i;
	if (rc == 0 && all.n)
		qsort_r(order, all.n, sizeof *order, by_stream, all.list);
	for (size_t i = 0, end; i < all.n && rc == 0; i = end) {
		for (end = i + 1; end < all.n && gpu_same_stream(&all.list[order[i]].first, &all.list[order[end]].first);)
			end++;
		rc = put_queue(t, j, r, &(struct job_queue){ all.list, order + i, NULL, end - i }, put);
	}
	if (rc == 0)
		launches_note(t, r, &all);
	free(order);
	free(all.list);
	return rc;
}

static int each_rank(struct model *m, struct table *t, const struct report_choice *choice, put_fn *put)
{
	struct job j;
	int rc = job_begin(&j, m, choice);

	for (size_t i = 0; rc == 0 && i < j.n; i++)
		rc = put_rank(t, &j, &j.list[i], put);
	job_end(&j);
	return rc;
}

/* Goes through the changes of a queue by time, at equal times launches first. */
struct queue_cursor {
	size_t in, out;                 /* launches that entered and left so far */
};

/* The time of the next change, into *time.  Returns false at the end. */
static bool next_change(const struct job_queue *q, struct queue_cursor *w, int64_t *time)
{
	if (w->in < q->n && enter(q, w->in) <= q->leaves[w->out].time)
		*time = enter(q, w->in++);
	else if (w->out < q->n)
		*time = q->leaves[w->out++].time;
	else
		return false;
	return true;
}

/* ---- reports ---- */

static int put_lengths(struct table *t, const struct job *j, const struct job_rank *r, const struct job_queue *q)
{
	struct job_values depths = { 0 };
	struct queue_cursor w = { 0 };
	struct job_summary s;
	int64_t time;

	(void)j;
	while (w.in < q->n) {
		size_t before = w.in;

		next_change(q, &w, &time);
		if (w.in > before && !job_values_add(&depths, (int64_t)(w.in - w.out))) {
			job_values_release(&depths);
			return -1;
		}
	}
	s = job_summary_of(&depths);
	table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(on(q)->device), job_stream(on(q)), NUMBER(s.n),
				      job_mean(&s, 2), NUMBER(s.median), NUMBER(s.p95), NUMBER(s.max) });
	job_values_release(&depths);
	return 0;
}

static int put_series(struct table *t, const struct job *j, const struct job_rank *r, const struct job_queue *q)
{
	struct queue_cursor w = { 0 };
	int64_t time;

	while (next_change(q, &w, &time))
		table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(on(q)->device), job_stream(on(q)),
					      NUMBER(time_sub(time, j->start)), NUMBER(w.in - w.out) });
	return 0;
}

static int put_full(struct table *t, const struct job *j, const struct job_rank *r, const struct job_queue *q)
{
	int64_t full = 0, time = 0, before = 0, all = time_sub(q->leaves[q->n - 1].time, enter(q, 0));
	struct queue_cursor w = { 0 };
	bool was = false, ever = false;

	(void)j;
	while (next_change(q, &w, &time)) {
		if (was)
			full = time_add(full, time_sub(time, before));
		was = w.in - w.out >= FULL;
		ever |= was;
		before = time;
	}
	if (ever)
		table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(on(q)->device), job_stream(on(q)),
					      NUMBER(full), job_pct(full, all) });
	return 0;
}

static int lengths(struct model *m, struct table *t, const struct report_choice *choice)
{
	return each_rank(m, t, choice, put_lengths);
}

static int over_time(struct model *m, struct table *t, const struct report_choice *choice)
{
	return each_rank(m, t, choice, put_series);
}

static int full(struct model *m, struct table *t, const struct report_choice *choice)
{
	int rc = each_rank(m, t, choice, put_full);

	if (rc == 0 && !t->n_rows)
		table_note(t, "no stream had %d launches waiting", FULL);
	return rc;
}

#define STREAM_COLUMNS { "rank", COLUMN_ID }, { "device", COLUMN_ID }, { "stream", COLUMN_ID }

static const struct heading length_columns[] = {
	STREAM_COLUMNS, { "launches", 0 }, { "mean", 0 }, { "median", 0 }, { "p95", 0 }, { "max", 0 },
};
static const struct heading series_columns[] = { STREAM_COLUMNS, { "time_ns", COLUMN_MOMENT }, { "queue_length", 0 } };
static const struct heading full_columns[] = { STREAM_COLUMNS, { "full_ns", 0 }, { "full_pct", 0 } };

const struct report report_queue_length = {
	.name = "queue_length",
	.title = "Queue Depth of Each Stream",
	.help = "How many launches wait in the queue of each stream?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(length_columns),
	.run_chosen = lengths,
};

const struct report report_queue_length_series = {
	.name = "queue_length_series",
	.title = "Queue Depth of Each Stream over Time",
	.help = "How does the queue length of each stream change over time?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(series_columns),
	.run_chosen = over_time,
};

const struct report report_queue_full = {
	.name = "queue_full",
	.share = "full_pct: share of the time from the stream's first call to the start of its last GPU row",
	.title = "Time with 1024 Launches or More in a Stream's Queue",
	.help = "How long do 1024 launches or more wait in the queue of a stream?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(full_columns),
	.run_chosen = full,
};
