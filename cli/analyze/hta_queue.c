#include "cli/analyze/hta_queue.h"

#include <math.h>
#include <stdlib.h>

#define FULL_QUEUE 1024         /* launches: HTA's CUDA_MAX_LAUNCH_QUEUE_PER_STREAM */

struct points {
	struct queue_point *list;
	size_t n, cap;
	bool oom;
};

static void add_point(struct points *p, int64_t ts, uint32_t row, uint32_t gpu, int32_t change)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 256;
		struct queue_point *list = realloc(p->list, cap * sizeof *list);

		if (!list) {
			p->oom = true;
			return;
		}
		p->list = list;
		p->cap = cap;
	}
	p->list[p->n++] = (struct queue_point){ ts, row, gpu, change };
}

/* GPU rows of each correlation id as chains in row order; heads has the first.  next and last: r->n each. */
static int chain_gpu_rows(const struct hta_rank *r, struct hta_corr *heads, uint32_t *next, uint32_t *last)
{
	for (size_t k = 0; k < r->n_gpu; k++) {
		uint32_t i = r->gpu[k], head;

		next[i] = UINT32_MAX;
		head = hta_corr_get(heads, hta_row(r, i)->corr);
		if (head == HTA_NO_CORR) {
			head = i;
			if (!hta_corr_set(heads, hta_row(r, i)->corr, head))
				return -1;
		} else {
			next[last[head]] = i;
		}
		last[head] = i;
	}
	return 0;
}

/* In time's order, stable; then changes become lengths. */
static int order_points(const struct hta_rank *r, struct points *p)
{
	struct timed *order = malloc((p->n + 1) * sizeof *order);
	struct queue_point *sorted = malloc((p->n + 1) * sizeof *sorted);
	struct map streams = { 0 };
	int rc = order && sorted ? 0 : -1;
	bool new;

	for (size_t i = 0; i < p->n && rc == 0; i++)
		order[i] = (struct timed){ .time = p->list[i].ts, .row = (uint32_t)i };
	if (rc == 0)
		rc = timed_sort(order, p->n);
	for (size_t i = 0; i < p->n && rc == 0; i++) {
		struct queue_point *one = &p->list[order[i].row];
		/* The length so far, moved up by 2^30: a map has no signs, and GPU rows may come before their calls. */
		uint32_t *length = map_put(&streams, (uint64_t)hta_stream(r, hta_row(r, one->gpu)), 1u << 30, &new);

		if (!length) {
			rc = -1;
			break;
		}
		*length += (uint32_t)one->length;
		sorted[i] = *one;
		sorted[i].length = (int32_t)(*length - 1 - (1u << 30));
	}
	map_release(&streams);
	free(order);
	free(p->list);
	p->list = sorted;
	return rc;
}

struct queue_point *hta_queue(const struct hta *h, const struct hta_rank *r, size_t *n)
{
	struct points p = { 0 };
	struct hta_corr heads = { 0 }, launched = { 0 };
	uint32_t *next = malloc((r->n + 1) * sizeof *next), *last = malloc((r->n + 1) * sizeof *last);
	int rc = next && last && hta_corr_begin(&heads, r) == 0 && hta_corr_begin(&launched, r) == 0 ? 0 : -1;

	if (rc == 0)
		rc = chain_gpu_rows(r, &heads, next, last);
	for (size_t k = 0; k < r->n_linked && rc == 0; k++) {
		uint32_t i = r->linked[k];
		const struct hta_row *call = hta_row(r, i);

		if (!(h->names[call->name].flags & HTA_QUEUES) || call->partner <= 0)
			continue;
		if (!hta_corr_set(&launched, call->corr, 0))
			rc = -1;
		for (uint32_t g = hta_corr_get(&heads, call->corr); g != UINT32_MAX; g = next[g])
			add_point(&p, call->ts, i, g, 1);
	}
	for (size_t k = 0; k < r->n_gpu && rc == 0; k++) {
		const struct hta_row *row = hta_row(r, r->gpu[k]);

		if (hta_corr_get(&launched, row->corr) != HTA_NO_CORR)
			add_point(&p, row->ts, r->gpu[k], r->gpu[k], -1);
	}
	if (rc == 0)
		rc = p.oom ? -1 : order_points(r, &p);
	hta_corr_release(&heads);
	hta_corr_release(&launched);
	free(next);
	free(last);
	if (rc < 0) {
		free(p.list);
		return NULL;
	}
	*n = p.n;
	return p.list;
}

/* ---- reports ---- */

/* Calls print with the points of each rank. */
static int each_rank(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how,
		     int (*print)(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n,
				  struct table *t))
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		struct hta_rank *r = &h->ranks[k];

		if (!r->queue)
			r->queue = hta_queue(h, r, &r->n_queue);
		rc = r->queue ? print(h, r, r->queue, r->n_queue, t) : -1;
	}
	hta_done(h, choice);
	return rc;
}

static int print_series(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n,
			struct table *t)
{
	for (size_t i = 0; i < n; i++) {
		const struct hta_place *gpu = hta_place(r, hta_row(r, p[i].gpu));

		table_row(t, (struct cell[]){
				     NUMBER(r->rank), NUMBER(hta_row(r, p[i].row)->index), hta_us(p[i].ts), NUMBER(gpu->pid),
				     gpu->tid_text == UINT32_MAX ? NUMBER(gpu->tid)
								 : TEXT(table_keep(t, "%s", h->names[gpu->tid_text].text)),
				     NUMBER(gpu->stream), NUMBER(p[i].length) });
	}
	return 0;
}

static int series(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_series);
}

/* Points of one stream after the other, each stream's in time's order.  time: the stream; row: position in the points. */
static struct timed *by_streams(const struct hta_rank *r, const struct queue_point *p, size_t n)
{
	struct timed *list = malloc((n + 1) * sizeof *list);

	for (size_t i = 0; list && i < n; i++)
		list[i] = (struct timed){ .time = hta_stream(r, hta_row(r, p[i].gpu)), .row = (uint32_t)i };
	if (list && timed_sort(list, n) == 0)
		return list;
	free(list);
	return NULL;
}

static int print_summary(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n,
			 struct table *t)
{
	struct timed *list = by_streams(r, p, n);
	double *values = malloc((n + 1) * sizeof *values);
	int rc = list && values ? 0 : -1;

	(void)h;
	for (size_t i = 0, end; i < n && rc == 0; i = end) {
		struct hta_described d;

		for (end = i; end < n && list[end].time == list[i].time; end++)
			values[end - i] = p[list[end].row].length;
		d = hta_describe(values, end - i);
		table_row(t, (struct cell[]){ NUMBER(r->rank), NUMBER(list[i].time), NUMBER(d.n), hta_real(d.mean, 9),
					      hta_real(d.std, 9), hta_real(d.min, 0), hta_real(d.q1, 2),
					      hta_real(d.median, 2), hta_real(d.q3, 2), hta_real(d.max, 0) });
	}
	free(list);
	free(values);
	return rc;
}

static int summary(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_summary);
}

/* From the first begin to the last begin: what HTA calls the duration of a rank's trace. */
static int64_t trace_duration(const struct hta_rank *r)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < r->n; i++) {
		int64_t ts = hta_row(r, i)->ts;

		first = ts < first ? ts : first;
		last = ts > last ? ts : last;
	}
	return r->n ? time_sub(last, first) : 0;
}

/* Of several such streams of a rank HTA keeps the last one alone: it puts each into the same place. */
static int print_full(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n, struct table *t)
{
	struct timed *list = by_streams(r, p, n);
	int64_t all = trace_duration(r);
	struct cell row[4];
	bool some = false;

	for (size_t i = 0, end; list && i < n; i = end) {
		int64_t blocked = 0;
		bool full = false;

		for (end = i; end < n && list[end].time == list[i].time; end++) {
			const struct queue_point *one = &p[list[end].row];

			if (one->length < FULL_QUEUE)
				continue;
			full = true;
			if (end + 1 < n && list[end + 1].time == list[i].time)
				blocked = time_add(blocked, time_sub(p[list[end + 1].row].ts, one->ts));
		}
		if (!full)
			continue;
		if (some && !h->how.rounded)
			table_row(t, row);
		some = true;
		row[0] = NUMBER(r->rank);
		row[1] = NUMBER(list[i].time);
		row[2] = hta_us(blocked);
		row[3] = hta_real(all ? (double)blocked / (double)all : NAN, 9);
	}
	if (some)
		table_row(t, row);
	free(list);
	return list ? 0 : -1;
}

static int full(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_full);
}

static const struct heading series_columns[] = {
	{ "rank", COLUMN_ID }, { "index", COLUMN_ID }, { "ts", COLUMN_ID }, { "pid", COLUMN_ID }, { "tid", COLUMN_ID },
	{ "stream", COLUMN_ID }, { "queue_length", 0 },
};
static const struct heading summary_columns[] = {
	{ "rank", COLUMN_ID }, { "stream", COLUMN_ID }, { "queue_length_count", 0 }, { "queue_length_mean", 0 },
	{ "queue_length_std", 0 }, { "queue_length_min", 0 }, { "queue_length_25%", 0 }, { "queue_length_50%", 0 },
	{ "queue_length_75%", 0 }, { "queue_length_max", 0 },
};
static const struct heading full_columns[] = {
	{ "rank", COLUMN_ID }, { "stream", COLUMN_ID }, { "duration_at_max_queue_length", 0 },
	{ "relative_duration_at_max_queue_length", 0 },
};

HTA_PAIR(queue_length, hta_queue_length_summary, summary, summary_columns, NULL, "Launches Waiting in Each Stream",
	 "how many launches waited in each stream");
HTA_PAIR(queue_length_series, hta_queue_length_time_series, series, series_columns, NULL,
	 "Launches Waiting in Each Stream (us), over Time", "the same over time");
HTA_PAIR(queue_full, hta_time_blocked_on_full_queue, full, full_columns, NULL, "Time with Full Queues (us)",
	 "how long 1024 launches or more waited in a stream");
