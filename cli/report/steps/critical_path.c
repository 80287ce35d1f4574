/*
 * critical_path, critical_path_segments: what a step waits for, from its start to its end on the host.  cli/model/path/path.h finds the path;
 * docs/reference/numbers.md defines its segments.
 */
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/report.h"
#include "cli/report/steps/path_pieces.h"
#include "cli/report/steps/steps_how.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "kind", COLUMN_TEXT }, { "time_ns", 0 }, { "wall_pct", 0 }, { "segments", 0 }, { "most_ns", 0 }, { "mostly", COLUMN_TEXT },
};

static const struct heading segment_columns[] = {
	{ "start_ns", 0 }, { "duration_ns", 0 }, { "kind", COLUMN_TEXT }, { "where", COLUMN_TEXT }, { "name", COLUMN_TEXT },
};

/* ---- notes ---- */

static void note_span(struct model *m, struct table *t, const struct path_span *s)
{
	double wall = (double)time_sub(s->end, s->start) / 1e6;
	uint32_t n, number = model_processes(m, &n)[s->process].number;
	uint32_t name = s->step ? s->steps->kinds[s->step->kind].name : STRING_NONE;
	const char *kind = name == STRING_NONE ? "" : model_string(m, name);
	char how[400];

	if (!s->step)
		table_note(t, "%s; the path covers the whole of process %u: %.3f ms",
			   s->steps->n ? "no complete step was recorded" : steps_how(m, s->steps, how, sizeof how), number, wall);
	else if (s->n == 1)
		table_note(t, "step %u%s%s of process %u, the only complete step: %.3f ms on the host; the rows add up to that",
			   s->step->number, *kind ? " of kind " : "", kind, number, wall);
	else
		table_note(t, "step %u%s%s of process %u, %s of %zu complete steps: %.3f ms on the host; the rows add up to that",
			   s->step->number, *kind ? " of kind " : "", kind, number, s->median ? "the median" : "one", s->n, wall);
}

static void note_missing(const struct model *m, struct table *t, const struct path_rows *r)
{
	if (!r->in.n_rows)
		table_note(t, "no GPU row of the process runs in that time: the path has only host segments");
	if (r->unlaunched)
		table_note(t, "GPU rows whose launch call was not recorded: %zu; assumed: each waited for the work that ended last "
			   "before it", r->unlaunched);
	if (r->guessed_waits)
		table_note(t, "synchronising calls with an unknown stream or event: %zu; assumed: they waited for the work that ended last "
			   "before they returned", r->guessed_waits);
	if (r->guessed_orders)
		table_note(t, "event waits with an unknown event: %zu; assumed: they waited for the work that ended last before the "
			   "stream continued", r->guessed_orders);
	if (r->loaders.n && !r->n_workers)
		table_note(t, "DataLoader workers were not recorded (gprof-run -t cuda,nvtx,torch-ops records their operators): what the step "
			   "waited for in them is unknown");
	if (r->loaders.n && r->n_workers > 1)
		table_note(t, "the worker that made a batch is not recorded; assumed: the worker that was active last before the "
			   "batch arrived");
	if (r->in.effort.refused)
		table_note(t, "waits and launches not followed: %zu, because there are too many streams (%zu) and GPU rows (%zu) to examine; there the path "
			   "stays on the waiting thread or stream", r->in.effort.refused, r->in.n_queues, r->in.n_rows);
	if (model_steps_selected(m))
		table_note(t, "only the selected part: work launched before it is missing; critical_path:NUMBER takes a step with "
			   "all work that ran in it");
}

static void note_none(struct model *m, struct table *t, const struct path_span *s, const char *number)
{
	char how[400];

	if (s->n)
		table_note(t, "step %s is not one of the complete recorded steps (%zu)", number, s->n);
	else if (number)
		table_note(t, "there is no step %s: %s", number, steps_how(m, s->steps, how, sizeof how));
	else
		table_note(t, "no path: no thread of the process has recorded rows");
}

/* ---- by kind ---- */

struct kind_sum {
	enum piece_kind kind;
	int64_t time, most;
	size_t segments;
	uint32_t mostly;
};

static int by_time(const void *a, const void *b)
{
	const struct kind_sum *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

/* Sums by kind.  mostly: the name with the most time of its kind, of several the first by time. */
static int sum_up(const struct pieces *p, struct kind_sum sums[PIECE_KINDS])
{
	int64_t *times = calloc(p->n + 1, sizeof *times);
	struct map at = { 0 };
	int rc = times ? 0 : -1;

	for (size_t i = 0; i < p->n && rc == 0; i++) {
		const struct piece *piece = &p->list[i];
		uint64_t key = (uint64_t)piece->kind << 32 | piece->name;
		bool new;
		uint32_t *place = map_put(&at, key, (uint32_t)at.n, &new);

		if (!place) {
			rc = -1;
			break;
		}
		times[*place - 1] = time_add(times[*place - 1], time_sub(piece->end, piece->start));
		sums[piece->kind].time = time_add(sums[piece->kind].time, time_sub(piece->end, piece->start));
		sums[piece->kind].segments++;
	}
	for (size_t i = 0; i < p->n && rc == 0; i++) {
		struct kind_sum *s = &sums[p->list[i].kind];
		int64_t time = times[map_get(&at, (uint64_t)p->list[i].kind << 32 | p->list[i].name)];

		if (time > s->most) {
			s->most = time;
			s->mostly = p->list[i].name;
		}
	}
	free(times);
	map_release(&at);
	return rc;
}

static struct cell name_cell(struct model *m, uint32_t name)
{
	return name == STRING_NONE ? UNKNOWN : TEXT(model_string(m, name));
}

#define DECIMALS 2

/* Percent with two decimals, rounded to the nearest. */
static int64_t percent(int64_t part, int64_t whole)
{
	return (int64_t)(((__int128)part * 20000 + whole) / (2 * (__int128)whole));
}

static int put_kinds(struct model *m, struct table *t, const struct pieces *p, int64_t wall)
{
	struct kind_sum sums[PIECE_KINDS] = { { .time = 0 } };

	for (unsigned i = 0; i < PIECE_KINDS; i++)
		sums[i] = (struct kind_sum){ .kind = i, .mostly = STRING_NONE };
	if (sum_up(p, sums) < 0)
		return -1;
	qsort(sums, PIECE_KINDS, sizeof *sums, by_time);
	for (unsigned i = 0; i < PIECE_KINDS && sums[i].segments; i++)
		table_row(t, (struct cell[]){ TEXT(piece_words[sums[i].kind]), NUMBER(sums[i].time),
					      FIXED(percent(sums[i].time, wall), DECIMALS), NUMBER(sums[i].segments), NUMBER(sums[i].most),
					      name_cell(m, sums[i].mostly) });
	return 0;
}

/* ---- segments ---- */

static const char *where(struct model *m, struct table *t, const struct path_rows *r, const struct piece *p)
{
	const struct path_thread *of = PATH_LIST(r->threads, struct path_thread) + p->on;
	const struct thread *thread;
	uint32_t n;

	if (p->gpu)
		return table_keep(t, "stream %u", PATH_LIST(r->streams, uint32_t)[p->on]);
	thread = model_thread(m, of->process, of->thread);
	if (!thread)
		return table_keep(t, "thread ?%u", of->thread);
	if (of->process != r->process)
		return table_keep(t, "thread %u of process %u", thread->row.tid, model_processes(m, &n)[of->process].number);
	return table_keep(t, "thread %u", thread->row.tid);
}

static void put_segments(struct model *m, struct table *t, const struct pieces *p, int64_t start)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *s = &p->list[i];

		table_row(t, (struct cell[]){ NUMBER(time_sub(s->start, start)), NUMBER(time_sub(s->end, s->start)), TEXT(piece_words[s->kind]),
					      TEXT(where(m, t, &p->rows, s)), name_cell(m, s->name) });
	}
}

/* ---- the reports ---- */

static int path(struct model *m, struct table *t, const char *number, bool segments)
{
	struct path_span span;
	struct pieces p;
	int rc = path_span_of(m, number, &span);

	if (rc < 0)
		return -1;
	if (!rc || !span.thread || span.end <= span.start) {
		note_none(m, t, &span, number);
		return 0;
	}
	rc = pieces_make(&p, m, &span);
	if (rc == 0 && segments)
		put_segments(m, t, &p, span.start);
	else if (rc == 0)
		rc = put_kinds(m, t, &p, time_sub(span.end, span.start));
	if (rc == 0) {
		note_span(m, t, &span);
		note_missing(m, t, &p.rows);
	}
	pieces_release(&p);
	return rc;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	return path(m, t, variant, false);
}

static int run_segments(struct model *m, struct table *t, const char *variant)
{
	return path(m, t, variant, true);
}

/* The variant is the number of a step. */
static bool is_number(const char *variant)
{
	size_t n = strspn(variant, "0123456789");

	return n && n < 10 && !variant[n];
}

const struct report report_critical_path = {
	.name = "critical_path",
	.share = "wall_pct: share of the length of the path, which is the sum of all rows",
	.title = "Critical Path of a Step",
	.help = "What does the median step wait for, from its start to its end? (:N selects step N)",
	.variants = ANY_VARIANT " a step's number",
	.takes = is_number,
	COLUMNS(columns),
	.run = run,
};

const struct report report_critical_path_segments = {
	.name = "critical_path_segments",
	.title = "Critical Path of a Step, Segment by Segment",
	.help = "What does the median step wait for, segment by segment, and on which thread or stream? (:N selects step N)",
	.variants = ANY_VARIANT " a step's number",
	.takes = is_number,
	COLUMNS(segment_columns),
	.run = run_segments,
};
