/*
 * critical_path, critical_path_segments: what a step waited for, from its begin to its end on the host.  The path is that
 * of cli/model/path.h; docs/numbers.md defines its parts.
 */
#include "cli/analyze/path_pieces.h"
#include "cli/analyze/report.h"
#include "cli/analyze/steps_how.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps.h"

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
		table_note(t, "%s; the path is of the whole of process %u: %.3f ms",
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
		table_note(t, "no GPU rows of the process run in that time: the path is on the host alone");
	if (r->unlaunched)
		table_note(t, "GPU rows without the call that launched them: %zu; taken is that each waited for the work that ended last before it", r->unlaunched);
	if (r->guessed_waits)
		table_note(t, "synchronising calls of which no row says what they waited for: %zu; taken is the work that ended last "
			   "before they returned", r->guessed_waits);
	if (r->guessed_orders)
		table_note(t, "event waits of which no row says for which event: %zu; taken is the work that ended last before the "
			   "stream went on", r->guessed_orders);
	if (PATH_COUNT(r->loaders, struct path_loader) && !r->n_workers)
		table_note(t, "nothing that a worker of the DataLoader did was recorded (gprof-run -t torch-ops records its operators): what the "
			   "step waited for is not known");
	if (PATH_COUNT(r->loaders, struct path_loader) && r->n_workers > 1)
		table_note(t, "which worker made a batch is not recorded: taken is the one that was active last before the batch came");
	if (model_steps_selected(m))
		table_note(t, "of the selected part alone: work that was launched before it is not there; critical_path:NUMBER is of a "
			   "step with all that ran in it");
}

static void note_none(struct model *m, struct table *t, const struct path_span *s, const char *number)
{
	char how[400];

	if (s->n)
		table_note(t, "step %s is not among the complete steps that were recorded: %zu", number, s->n);
	else if (number)
		table_note(t, "there is no step %s: %s", number, steps_how(m, s->steps, how, sizeof how));
	else
		table_note(t, "no path: no thread did anything that was recorded");
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

/* Of each kind the name with most time; of several the one that came first. */
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

/* ---- one by one ---- */

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

/* Behind the name stands a step's number. */
static bool is_number(const char *variant)
{
	size_t n = strspn(variant, "0123456789");

	return n && n < 10 && !variant[n];
}

const struct report report_critical_path = {
	.name = "critical_path",
	.title = "Critical Path of a Step",
	.help = "what the median step waited for, from its begin to its end on the host; :NUMBER selects a step",
	.variants = ANY_VARIANT " a step's number",
	.takes = is_number,
	COLUMNS(columns),
	.run = run,
};

const struct report report_critical_path_segments = {
	.name = "critical_path_segments",
	.title = "Critical Path of a Step, Segment by Segment",
	.help = "the same in order of time: what was waited for, when, on which thread or stream",
	.variants = ANY_VARIANT " a step's number",
	.takes = is_number,
	COLUMNS(segment_columns),
	.run = run_segments,
};
