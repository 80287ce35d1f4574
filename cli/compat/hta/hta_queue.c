/* Queue length of each stream: launches that wait to run (hta/analyzers/trace_counters.py, queue length). */
#include "cli/compat/hta/hta_derived.h"

#include <math.h>
#include <stdlib.h>

#include "trace/grow.h"

#define FULL_QUEUE 1024         /* launches: HTA's CUDA_MAX_LAUNCH_QUEUE_PER_STREAM */

/* The times at which queues get longer.  list[].row: position in pairs of (position of the call, position of its GPU row). */
struct longer {
	struct timed *list;
	uint32_t (*pairs)[2];
	size_t n, cap;
};

static bool add_longer(struct longer *l, int64_t ts, uint32_t call, uint32_t gpu)
{
	size_t cap = l->cap;

	if (!GROW(l->list, l->n + 1, cap) || !GROW(l->pairs, l->n + 1, l->cap))
		return false;
	l->pairs[l->n][0] = call;
	l->pairs[l->n][1] = gpu;
	l->list[l->n] = (struct timed){ .time = ts, .row = (uint32_t)l->n };
	l->n++;
	return true;
}

static bool gets_longer(const struct hta *h, const struct hta_rank *r, size_t call)
{
	const struct hta_row *row = hta_row(r, call);

	return h->names[row->name].flags & HTA_QUEUES && row->partner > 0;
}

static bool find_longer(const struct hta *h, const struct hta_rank *r, const struct hta_chains *c, struct longer *l)
{
	uint64_t pairs;

	if (hta_count_pairs(h, r, gets_longer, &pairs) < 0)
		return false;
	r->derived->queue_refused = hta_too_many_pairs(r, pairs);
	if (r->derived->queue_refused)
		return true;
	for (size_t i = 0; i < r->n_linked; i++) {
		const struct hta_row *call = hta_row(r, r->linked[i]);

		if (!gets_longer(h, r, r->linked[i]))
			continue;
		for (uint32_t k = c->first[hta_id(r, r->linked[i])]; k; k = c->next[k - 1])
			if (!add_longer(l, call->ts, r->linked[i], r->gpu[k - 1]))
				return false;
	}
	return timed_sort(l->list, l->n) == 0;
}

/* Merges launches (longer) and starts on the GPU (shorter) into out, by time.  lengths: by stream, all 0.  Returns the number of points. */
static size_t merge(const struct hta_rank *r, const struct longer *l, const struct timed *gpu, int32_t *lengths,
		    struct queue_point *out)
{
	const struct hta_streams *streams = hta_streams(r);
	const struct hta_chains *c = &r->derived->chains;
	size_t n = 0, longer = 0;

	for (size_t i = 0; i <= r->n_gpu; i++) {
		const struct hta_row *row = i < r->n_gpu ? hta_row(r, gpu[i].row) : NULL;

		if (row && !(c->flags[hta_id(r, gpu[i].row)] & HTA_QUEUES))
			continue;
		for (; longer < l->n && (!row || l->list[longer].time <= row->ts); longer++) {
			const uint32_t *pair = l->pairs[l->list[longer].row];

			out[n++] = (struct queue_point){ l->list[longer].time, pair[0], pair[1],
							 ++lengths[hta_stream_at(streams, hta_row(r, pair[1]))] };
		}
		if (row)
			out[n++] = (struct queue_point){ row->ts, gpu[i].row, gpu[i].row,
							 --lengths[hta_stream_at(streams, row)] };
	}
	return n;
}

const struct queue_point *hta_queue(const struct hta *h, const struct hta_rank *r, size_t *n)
{
	const struct hta_chains *c = hta_chains(h, r);
	const struct hta_streams *streams = hta_streams(r);
	const struct timed *gpu = hta_by_time(r);
	struct queue_point *points = r->derived->queue;
	struct longer l = { .n = 0 };
	int32_t *lengths = NULL;

	if (!points && c && streams && gpu) {
		lengths = calloc(streams->n + 1, sizeof *lengths);
		if (lengths && find_longer(h, r, c, &l))
			points = malloc((l.n + r->n_gpu + 1) * sizeof *points);
		if (points && !r->derived->queue_refused)
			r->derived->n_queue = merge(r, &l, gpu, lengths, points);
		r->derived->queue = points;
	}
	free(l.list);
	free(l.pairs);
	free(lengths);
	*n = r->derived->n_queue;
	return points;
}

/* ---- reports ---- */

/* Calls print for each rank, with its points. */
static int each_rank(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how,
		     int (*print)(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n,
				  struct table *t))
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		const struct queue_point *p;
		size_t n;

		p = hta_queue(h, &h->ranks[k], &n);
		rc = p ? print(h, &h->ranks[k], p, n, t) : -1;
		if (h->ranks[k].derived->queue_refused)
			hta_note_pairs(t, &h->ranks[k], "the queues are not counted");
	}
	hta_done(h, t, choice);
	return rc;
}

static int print_series(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n,
			struct table *t)
{
	for (size_t i = 0; i < n; i++) {
		const struct hta_place *gpu = hta_place(r, hta_row(r, p[i].gpu));

		table_row(t, (struct cell[]){
				     NUMBER(r->rank), NUMBER(hta_row(r, p[i].row)->index), hta_us(p[i].ts), hta_pid(h, gpu, t),
				     gpu->tid_text == UINT32_MAX ? NUMBER(gpu->tid)
								 : TEXT(h->names[gpu->tid_text].text),
				     NUMBER(gpu->stream), NUMBER(p[i].length) });
	}
	return 0;
}

static int series(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_series);
}

/* Points grouped by stream, the points of a stream by time. */
struct queue_by_stream {
	const struct hta_streams *streams;
	uint32_t *points;
	size_t *end;                    /* by stream: end of its points in `points` */
};

static bool by_streams(const struct hta_rank *r, const struct queue_point *p, size_t n, struct queue_by_stream *b)
{
	size_t sum = 0;

	b->streams = hta_streams(r);
	b->points = malloc((n + 1) * sizeof *b->points);
	b->end = b->streams ? calloc(b->streams->n + 1, sizeof *b->end) : NULL;
	if (!b->points || !b->end)
		return false;
	for (size_t i = 0; i < n; i++)
		b->end[hta_stream_at(b->streams, hta_row(r, p[i].gpu))]++;
	for (size_t s = 0; s < b->streams->n; s++) {
		size_t here = b->end[s];

		b->end[s] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		b->points[b->end[hta_stream_at(b->streams, hta_row(r, p[i].gpu))]++] = (uint32_t)i;
	return true;
}

static void by_stream_release(struct queue_by_stream *b)
{
	free(b->points);
	free(b->end);
}

static int print_summary(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n,
			 struct table *t)
{
	struct queue_by_stream b = { .points = NULL };
	double *values = by_streams(r, p, n, &b) ? malloc((n + 1) * sizeof *values) : NULL;

	(void)h;
	for (size_t s = 0, i = 0; values && s < b.streams->n; s++) {
		struct hta_described d;
		size_t first = i;

		for (; i < b.end[s]; i++)
			values[i - first] = p[b.points[i]].length;
		if (i == first)
			continue;
		d = hta_describe(values, i - first);
		table_row(t, (struct cell[]){ NUMBER(r->rank), NUMBER(b.streams->numbers[s]), NUMBER(d.n), hta_real(d.mean, 9),
					      hta_real(d.std, 9), hta_real(d.min, 0), hta_real(d.q1, 2),
					      hta_real(d.median, 2), hta_real(d.q3, 2), hta_real(d.max, 0) });
	}
	by_stream_release(&b);
	free(values);
	return values ? 0 : -1;
}

static int summary(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_summary);
}

/* HTA's duration of a trace: from the first start to the last start. */
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

/* Prints only the last stream of the rank that was full, as HTA does: it overwrites the ones before. */
static int print_full(const struct hta *h, const struct hta_rank *r, const struct queue_point *p, size_t n, struct table *t)
{
	struct queue_by_stream b = { .points = NULL };
	bool made = by_streams(r, p, n, &b), some = false;
	int64_t all = trace_duration(r);
	struct cell row[4];

	(void)h;
	for (size_t s = 0, i = 0; made && s < b.streams->n; s++) {
		int64_t blocked = 0;
		bool full = false;

		for (; i < b.end[s]; i++) {
			const struct queue_point *one = &p[b.points[i]];

			if (one->length < FULL_QUEUE)
				continue;
			full = true;
			if (i + 1 < b.end[s])
				blocked = time_add(blocked, time_sub(p[b.points[i + 1]].ts, one->ts));
		}
		if (!full)
			continue;
		some = true;
		row[0] = NUMBER(r->rank);
		row[1] = NUMBER(b.streams->numbers[s]);
		row[2] = hta_us(blocked);
		row[3] = hta_real(all ? (double)blocked / (double)all : NAN, 9);
	}
	if (some)
		table_row(t, row);
	by_stream_release(&b);
	return made ? 0 : -1;
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

HTA_TWIN(hta_queue_length_summary, summary, summary_columns, NULL, "Launches Waiting in Each Stream",
	 "how many launches waited in each stream");
HTA_TWIN(hta_queue_length_time_series, series, series_columns, NULL,
	 "Launches Waiting in Each Stream (us), over Time", "queue length of each stream over time");
HTA_TWIN(hta_time_blocked_on_full_queue, full, full_columns, NULL, "Time with Full Queues (us)",
	 "how long 1024 launches or more waited in a stream");
