/* queue_length, queue_length_series, queue_full: launches that have been called and have not started on the GPU. */
#include "cli/analyze/job_launch.h"

#include <stdlib.h>

#define FULL 1024               /* launches: what CUDA's queues are said to hold */

/* A launch on its stream. */
struct entry {
	struct gpu_row on;
	int64_t enter, leave;           /* leave: start on the GPU, not before the call */
	size_t call;
};

/* One stream's queue; both lists in order. */
struct queue {
	const struct entry *entries;    /* by enter */
	struct timed *leaves;
	size_t n;
};

static int by_stream(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->on.process != y->on.process)
		return x->on.process < y->on.process ? -1 : 1;
	if (x->on.device != y->on.device)
		return x->on.device < y->on.device ? -1 : 1;
	if (x->on.stream != y->on.stream)
		return x->on.stream < y->on.stream ? -1 : 1;
	if (x->enter != y->enter)
		return x->enter < y->enter ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

static struct entry *entries_of(const struct launches *l)
{
	struct entry *list = malloc((l->n + 1) * sizeof *list);

	for (size_t i = 0; list && i < l->n; i++) {
		const struct launch *one = &l->list[i];
		int64_t start = one->first.start;

		list[i] = (struct entry){ one->first, one->call, start > one->call ? start : one->call, one->call_row };
	}
	if (list && l->n)
		qsort(list, l->n, sizeof *list, by_stream);
	return list;
}

typedef int put_fn(struct table *t, const struct job *j, const struct job_rank *r, const struct queue *q);

/* 0, or -1: out of memory. */
static int put_queue(struct table *t, const struct job *j, const struct job_rank *r, const struct entry *list, size_t n,
		     put_fn *put)
{
	struct queue q = { list, malloc((n + 1) * sizeof *q.leaves), n };
	int rc = q.leaves ? 0 : -1;

	for (size_t i = 0; i < n && rc == 0; i++)
		q.leaves[i] = (struct timed){ .time = list[i].leave };
	if (rc == 0 && (timed_sort(q.leaves, n) < 0 || put(t, j, r, &q) < 0))
		rc = -1;
	free(q.leaves);
	return rc;
}

static int put_rank(struct table *t, const struct job *j, const struct job_rank *r, put_fn *put)
{
	struct launches all;
	struct entry *list = NULL;
	int rc = job_launches(r, &all);

	if (rc == 0) {
		list = entries_of(&all);
		rc = list ? 0 : -1;
	}
	for (size_t i = 0, end; i < all.n && rc == 0; i = end) {
		for (end = i + 1; end < all.n && gpu_same_stream(&list[i].on, &list[end].on);)
			end++;
		rc = put_queue(t, j, r, &list[i], end - i, put);
	}
	if (rc == 0)
		launches_note(t, r, &all);
	free(list);
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

/* The changes of a queue one after the other; at one time launches come first. */
struct walk {
	size_t in, out;
};

/* When the next change is.  False: there is none. */
static bool next_change(const struct queue *q, struct walk *w, int64_t *time)
{
	if (w->in < q->n && q->entries[w->in].enter <= q->leaves[w->out].time)
		*time = q->entries[w->in++].enter;
	else if (w->out < q->n)
		*time = q->leaves[w->out++].time;
	else
		return false;
	return true;
}

/* ---- reports ---- */

static int put_lengths(struct table *t, const struct job *j, const struct job_rank *r, const struct queue *q)
{
	struct job_values depths = { 0 };
	struct walk w = { 0 };
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
	table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(q->entries->on.device), job_stream(&q->entries->on), NUMBER(s.n),
				      job_mean(&s, 2), NUMBER(s.median), NUMBER(s.p95), NUMBER(s.max) });
	job_values_release(&depths);
	return 0;
}

static int put_series(struct table *t, const struct job *j, const struct job_rank *r, const struct queue *q)
{
	struct walk w = { 0 };
	int64_t time;

	while (next_change(q, &w, &time))
		table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(q->entries->on.device), job_stream(&q->entries->on),
					      NUMBER(time_sub(time, j->start)), NUMBER(w.in - w.out) });
	return 0;
}

static int put_full(struct table *t, const struct job *j, const struct job_rank *r, const struct queue *q)
{
	int64_t full = 0, time = 0, before = 0, all = time_sub(q->leaves[q->n - 1].time, q->entries->enter);
	struct walk w = { 0 };
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
		table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(q->entries->on.device), job_stream(&q->entries->on),
					      NUMBER(full), job_pct(full, all) });
	return 0;
}

static int lengths(struct model *m, struct table *t, const struct report_choice *choice)
{
	int rc = each_rank(m, t, choice, put_lengths);

	if (rc == 0 && t->n_rows)
		table_note(t, "mean, median, p95 and max are of the depth that each launch made, itself included");
	return rc;
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
static const struct heading series_columns[] = { STREAM_COLUMNS, { "time_ns", 0 }, { "queue_length", 0 } };
static const struct heading full_columns[] = { STREAM_COLUMNS, { "full_ns", 0 }, { "full_pct", 0 } };

const struct report report_queue_length = {
	.name = "queue_length",
	.title = "Queue Depth of Each Stream",
	.help = "how many launches waited in each stream's queue",
	.ranks = true,
	COLUMNS(length_columns),
	.run_chosen = lengths,
};

const struct report report_queue_length_series = {
	.name = "queue_length_series",
	.title = "Queue Depth of Each Stream over Time",
	.help = "the same over time: each change of a stream's queue",
	.ranks = true,
	COLUMNS(series_columns),
	.run_chosen = over_time,
};

const struct report report_queue_full = {
	.name = "queue_full",
	.title = "Time with 1024 Launches or More in a Stream's Queue",
	.help = "how long 1024 launches or more waited in a stream's queue",
	.ranks = true,
	COLUMNS(full_columns),
	.run_chosen = full,
};
