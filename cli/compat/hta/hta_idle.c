/*
 * Idle time between two rows of a stream, by reason (hta/analyzers/breakdown_analysis.py, get_idle_time_breakdown): host_wait: the later
 * row was launched after the earlier one had ended; kernel_wait: launched before, and the gap is short; other.
 */
#include "cli/compat/hta/hta_derived.h"

#include <math.h>
#include <stdlib.h>

/* ns.  HTA's consecutive_kernel_delay of 30, documented as ns, but compared with microseconds. */
#define SHORT_GAP 30000

enum idle { IDLE_HOST, IDLE_KERNEL, IDLE_OTHER, IDLES };

static const char *const idle_words[IDLES] = { "host_wait", "kernel_wait", "other" };

struct stream_idle {
	struct hta_list gaps[IDLES];    /* us */
	int64_t sum[IDLES];
	bool seen[IDLES];
};

/* The rows of a rank that count, grouped by stream, by start. */
struct idle_by_stream {
	const struct hta_streams *streams;
	uint32_t *rows;                 /* positions */
	size_t *end;                    /* by stream: end of its rows in `rows` */
};

static bool counts(const struct hta_row *row)
{
	return row->category == HTA_KERNEL || row->category == HTA_MEMSET || row->category == HTA_MEMCPY;
}

static bool by_streams(const struct hta_rank *r, struct idle_by_stream *b)
{
	const struct timed *rows = hta_by_time(r);
	size_t sum = 0;

	b->streams = hta_streams(r);
	b->rows = malloc((r->n_gpu + 1) * sizeof *b->rows);
	b->end = b->streams ? calloc(b->streams->n + 1, sizeof *b->end) : NULL;
	if (!rows || !b->rows || !b->end)
		return false;
	for (size_t i = 0; i < r->n_gpu; i++)
		if (counts(hta_row(r, rows[i].row)))
			b->end[hta_stream_at(b->streams, hta_row(r, rows[i].row))]++;
	for (size_t s = 0; s < b->streams->n; s++) {
		size_t here = b->end[s];

		b->end[s] = sum;
		sum += here;
	}
	for (size_t i = 0; i < r->n_gpu; i++)
		if (counts(hta_row(r, rows[i].row)))
			b->rows[b->end[hta_stream_at(b->streams, hta_row(r, rows[i].row))]++] = rows[i].row;
	return true;
}

/* As HTA, looks up the launch by index also when there is none (0 or -1): index 0 is a row. */
static enum idle why_idle(const struct hta_rank *r, const struct hta_row *row, int64_t before, int64_t gap)
{
	const struct hta_row *call = hta_at(r, row->partner);

	return call && call->ts > before ? IDLE_HOST : gap < SHORT_GAP ? IDLE_KERNEL : IDLE_OTHER;
}

/* The gaps of one stream.  As in HTA, a gap starts at the end of the row before, even if an earlier row ends later. */
static void stream_gaps(const struct hta_rank *r, const uint32_t *rows, size_t n, struct stream_idle *s)
{
	s->seen[IDLE_OTHER] = true;     /* the first row of the stream, which has no gap before it */
	for (size_t i = 1; i < n; i++) {
		const struct hta_row *row = hta_row(r, rows[i]);
		int64_t before = hta_end(hta_row(r, rows[i - 1])), gap = time_sub(row->ts, before);
		enum idle why = why_idle(r, row, before, gap);

		s->seen[why] = true;
		s->sum[why] = time_add(s->sum[why], gap);
		hta_list_add(&s->gaps[why], (double)gap / 1000.0);
	}
}

static void print_sums(struct table *t, const struct hta_rank *r, int64_t stream, struct stream_idle *s)
{
	int64_t all = time_add(time_add(s->sum[0], s->sum[1]), s->sum[2]);

	for (unsigned i = 0; i < IDLES; i++)
		if (s->seen[i])
			table_row(t, (struct cell[]){ NUMBER(r->rank), NUMBER(stream), TEXT(idle_words[i]), hta_us(s->sum[i]),
						      hta_real(all ? (double)s->sum[i] / (double)all : NAN, 2) });
}

static void print_gaps(struct table *t, const struct hta_rank *r, int64_t stream, struct stream_idle *s)
{
	for (unsigned i = 0; i < IDLES; i++) {
		struct hta_described d;

		if (!s->seen[i])
			continue;
		d = hta_describe(s->gaps[i].values, s->gaps[i].n);
		table_row(t, (struct cell[]){ TEXT(idle_words[i]), NUMBER(r->rank), NUMBER(stream), NUMBER(d.n),
					      hta_real(d.mean, 2), hta_real(d.std, 2), hta_real(d.min, 2), hta_real(d.q1, 2),
					      hta_real(d.median, 2), hta_real(d.q3, 2), hta_real(d.max, 2) });
	}
}

static int idle_of(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how,
		   void (*print)(struct table *t, const struct hta_rank *r, int64_t stream, struct stream_idle *s))
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		const struct hta_rank *r = &h->ranks[k];
		struct idle_by_stream b = { .rows = NULL };

		rc = by_streams(r, &b) ? 0 : -1;
		for (size_t stream = 0, i = 0; rc == 0 && stream < b.streams->n; i = b.end[stream++]) {
			struct stream_idle s = { 0 };

			if (i == b.end[stream])
				continue;
			stream_gaps(r, &b.rows[i], b.end[stream] - i, &s);
			print(t, r, b.streams->numbers[stream], &s);
			for (unsigned w = 0; w < IDLES; w++) {
				rc = s.gaps[w].oom ? -1 : rc;
				free(s.gaps[w].values);
			}
		}
		free(b.rows);
		free(b.end);
	}
	hta_done(h, t, choice);
	return rc;
}

static int idle(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return idle_of(m, t, choice, how, print_sums);
}

static int intervals(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return idle_of(m, t, choice, how, print_gaps);
}

static const struct heading idle_columns[] = {
	{ "rank", COLUMN_ID }, { "stream", COLUMN_ID }, { "idle_category", COLUMN_TEXT }, { "idle_time", 0 },
	{ "idle_time_ratio", 0 },
};
static const struct heading interval_columns[] = {
	{ "idle_category", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "stream", COLUMN_ID }, { "count", 0 }, { "mean", 0 },
	{ "std", 0 }, { "min", 0 }, { "25%", 0 }, { "50%", 0 }, { "75%", 0 }, { "max", 0 },
};

HTA_TWIN(hta_idle_time_breakdown, idle, idle_columns, NULL, "Idle Time of Streams (us), by Reason",
	 "idle time between a stream's rows: waiting for the host, for the row before, other");
HTA_TWIN(hta_idle_time_interval_stats, intervals, interval_columns, NULL,
	 "Idle Intervals of Streams (us), by Reason", "length of the idle intervals of each stream, by reason");
