/* idle, idle_intervals: gaps between the GPU rows of a stream, by reason. */
#include "cli/report/job/job.h"

#include "cli/model/join.h"

#include <stdlib.h>

#define SHORT_GAP 30000         /* ns; shorter gaps can be kernel_wait */

enum reason { HOST_WAIT, KERNEL_WAIT, OTHER, NOT_KNOWN, REASONS };

static const char *const reason_words[REASONS] = { "host_wait", "kernel_wait", "other", "unknown" };

struct gaps {
	struct job_values of[REASONS];
};

typedef void put_fn(struct table *t, int64_t rank, const struct gpu_row *stream, struct gaps *gaps);

/* call: row of the call that launched the GPU row after the gap, NO_ROW: not recorded; start: column of calls; from: start of the gap. */
static enum reason reason_of(size_t call, const int64_t *start, int64_t from, int64_t ns)
{
	if (call == NO_ROW)
		return NOT_KNOWN;
	if (start[call] > from)
		return HOST_WAIT;
	return ns < SHORT_GAP ? KERNEL_WAIT : OTHER;
}

/* Adds the gaps of one stream, cut to the GPU span.  rows[n]: its rows by start.  Returns 0, or -1 when out of memory. */
static int find_gaps(struct model *m, const struct gpu_row *rows, size_t n, const struct spans *span, struct gaps *gaps)
{
	const int64_t *start = MODEL_I64(m, api, start);
	int64_t end = rows[0].end;

	if (!start)
		return -1;
	for (size_t i = 1; i < n; i++) {
		int64_t ns = rows[i].start > end ? spans_within(span, end, rows[i].start) : 0;
		size_t call = ns > 0 ? model_api_of(m, rows[i].process, rows[i].corr) : NO_ROW;

		if (ns > 0 && !job_values_add(&gaps->of[reason_of(call, start, end, ns)], ns))
			return -1;
		end = rows[i].end > end ? rows[i].end : end;
	}
	return 0;
}

static void put_sums(struct table *t, int64_t rank, const struct gpu_row *stream, struct gaps *gaps)
{
	struct job_summary of[REASONS];
	int64_t all = 0;

	for (unsigned k = 0; k < REASONS; k++) {
		of[k] = job_summary_of(&gaps->of[k]);
		all = time_add(all, of[k].sum);
	}
	for (unsigned k = 0; k < REASONS; k++)
		if (of[k].n)
			table_row(t, (struct cell[]){ NUMBER(rank), NUMBER(stream->device), job_stream(stream),
						      TEXT(reason_words[k]), NUMBER(of[k].sum), job_pct(of[k].sum, all) });
}

static void put_intervals(struct table *t, int64_t rank, const struct gpu_row *stream, struct gaps *gaps)
{
	for (unsigned k = 0; k < REASONS; k++) {
		struct job_summary s = job_summary_of(&gaps->of[k]);

		if (s.n)
			table_row(t, (struct cell[]){ NUMBER(rank), NUMBER(stream->device), job_stream(stream),
						      TEXT(reason_words[k]), NUMBER(s.n), job_mean(&s, 0), NUMBER(s.min),
						      NUMBER(s.median), NUMBER(s.p95), NUMBER(s.max) });
	}
}

static int put_streams(struct table *t, const struct job_rank *r, const struct job_rows *rows, const struct spans *span,
		       put_fn *put)
{
	int rc = 0;

	for (size_t i = 0, end; i < rows->n && rc == 0; i = end) {
		struct gaps gaps = { 0 };

		for (end = i + 1; end < rows->n && gpu_same_stream(&rows->list[i], &rows->list[end]);)
			end++;
		rc = find_gaps(r->m, &rows->list[i], end - i, span, &gaps);
		if (rc == 0)
			put(t, r->number, &rows->list[i], &gaps);
		for (unsigned k = 0; k < REASONS; k++)
			job_values_release(&gaps.of[k]);
	}
	return rc;
}

static int idle_of(struct model *m, struct table *t, const struct report_choice *choice, put_fn *put)
{
	struct job j;
	int rc = job_begin(&j, m, choice);

	for (size_t i = 0; rc == 0 && i < j.n; i++) {
		struct job_times g = { 0 };
		struct job_rows rows;

		rc = job_gpu_rows(&j.list[i], &rows);
		if (rc == 0 && (model_join(j.list[i].m) < 0 || job_gpu_times(&j.list[i], &g) < 0))
			rc = -1;
		if (rc == 0 && !job_times_known(&g))
			job_note_no_gpu(t, &j.list[i], &g);
		if (rc == 0) {
			job_rows_by_stream(&rows);
			rc = put_streams(t, &j.list[i], &rows, &g.span, put);
		}
		job_times_release(&g);
		free(rows.list);
	}
	job_end(&j);
	return rc;
}

static int sums(struct model *m, struct table *t, const struct report_choice *choice)
{
	return idle_of(m, t, choice, put_sums);
}

static int intervals(struct model *m, struct table *t, const struct report_choice *choice)
{
	return idle_of(m, t, choice, put_intervals);
}

#define STREAM_COLUMNS { "rank", COLUMN_ID }, { "device", COLUMN_ID }, { "stream", COLUMN_ID }, { "reason", COLUMN_TEXT }

static const struct heading idle_columns[] = { STREAM_COLUMNS, { "idle_ns", 0 }, { "idle_pct", 0 } };
static const struct heading interval_columns[] = {
	STREAM_COLUMNS, { "count", 0 }, { "mean_ns", 0 }, { "min_ns", COLUMN_RARE }, { "median_ns", 0 }, { "p95_ns", 0 },
	{ "max_ns", COLUMN_KEY },
};

const struct report report_idle = {
	.name = "idle",
	.share = "idle_pct: share of the stream's idle time",
	.title = "Idle Time of Each Stream, by Reason",
	.help = "Why is each stream idle: waiting for the host, between launched kernels, other?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(idle_columns),
	.run_chosen = sums,
};

const struct report report_idle_intervals = {
	.name = "idle_intervals",
	.title = "Length of the Idle Intervals of Each Stream, by Reason",
	.help = "How long are the idle intervals of each stream?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(interval_columns),
	.run_chosen = intervals,
};
