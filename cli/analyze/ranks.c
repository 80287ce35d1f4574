/* ranks: what each rank of a job did, how long it waited for the others, and who was last (docs/numbers.md). */
#include "cli/analyze/ranks.h"

#include "cli/analyze/choice.h"
#include "cli/analyze/report.h"
#include "cli/analyze/step_stats.h"
#include "cli/analyze/step_times.h"
#include "cli/model/gpu_span.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps.h"

#include <stdlib.h>
#include <string.h>

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "process", COLUMN_ID }, { "host", COLUMN_TEXT | COLUMN_SPARSE }, { "steps", 0 }, { "wall_ns", COLUMN_SPARSE },
	{ "span_ns", 0 }, { "busy_ns", 0 }, { "busy_pct", 0 }, { "comm_ns", 0 }, { "comm_exposed_ns", 0 },
	{ "collectives", 0 }, { "wait_ns", 0 }, { "step_wait_ns", 0 }, { "last", 0 }, { "name", COLUMN_TEXT },
};

/* ---- GPU and steps of one rank ---- */

struct figures {
	int64_t span, busy, comm, exposed, wall;
	size_t steps;
	bool gpu, parts;                /* busy is known; what ran in it is, too */
};

/* A model, while rows of its ranks are printed. */
struct open_model {
	struct model *m;
	struct gpu_rows *rows;
	struct spans *spans;
};

static void close_model(struct open_model *o)
{
	if (o->m) {
		gpu_rows_free(o->m, o->rows);
		gpu_spans_free(o->m, o->spans);
	}
	*o = (struct open_model){ 0 };
}

static int open_model(struct open_model *o, struct model *m)
{
	if (o->m == m)
		return 0;
	close_model(o);
	o->m = m;
	o->rows = model_gpu_rows_in_span(m, &o->spans);
	return o->rows ? 0 : -1;
}

static int gpu_figures(const struct open_model *o, uint32_t process, struct figures *f)
{
	const struct gpu_rows *g = &o->rows[process];
	struct spans alone = { 0 };
	int rc = spans_subtract(&g->work[GPU_COMM], &g->work[GPU_COMPUTE], &alone);

	f->span = spans_length(&o->spans[process]);
	f->busy = spans_length(&g->busy);
	f->comm = spans_length(&g->work[GPU_COMM]);
	f->exposed = spans_length(&alone);
	f->gpu = f->span > 0;
	f->parts = f->gpu && !g->work[GPU_GRAPHS].n;
	spans_release(&alone);
	return rc;
}

/* Of all kinds: recorded, complete, not warm-up. */
static int step_figures(struct model *m, uint32_t process, struct figures *f)
{
	const struct steps *s = model_steps(m);
	int64_t *wall = s ? malloc(s->n * sizeof *wall + 1) : NULL;

	for (size_t i = 0; wall && i < s->n; i++) {
		const struct step *step = &s->list[i];

		if (step->process == process && step->selected && step_was_kept(s, step) && !(step->flags & STEP_INCOMPLETE))
			wall[f->steps++] = time_sub(step->end, step->start);
	}
	if (wall && f->steps)
		f->wall = percentile_of(wall, f->steps, 50);
	free(wall);
	return wall ? 0 : -1;
}

/* ---- the table ---- */

static struct cell host_cell(struct table *t, const struct rank *r)
{
	const char *host = model_attribute(r->m, "host");

	return host && *host ? TEXT(table_keep(t, "%s", host)) : UNKNOWN;
}

static const char *name_of(struct table *t, const struct rank *r)
{
	uint32_t n;
	const struct process *p = &model_processes(r->m, &n)[r->process];
	const char *file = process_attribute(p, "imported.file"), *slash = file ? strrchr(file, '/') : NULL;
	char name[32];

	return table_keep(t, "%s", file ? slash ? slash + 1 : file : process_name(p, name, sizeof name));
}

static void put(struct table *t, const struct ranks_judged *j, size_t rank, const struct figures *f)
{
	const struct rank *r = &j->ranks.list[rank];
	const struct late_rank *w = &j->waits[rank];
	uint32_t n;
	bool waits = w->collectives != 0;

#define IF(known, n) ((known) ? NUMBER(n) : UNKNOWN)
	table_row(t, (const struct cell[]){
		IF(r->number >= 0, r->number), NUMBER(model_processes(r->m, &n)[r->process].number), host_cell(t, r), NUMBER(f->steps),
		IF(f->steps, f->wall), IF(f->gpu, f->span), IF(f->gpu, f->busy),
		f->gpu ? FIXED((int64_t)(((__int128)f->busy * 10000 + f->span / 2) / f->span), 2) : UNKNOWN,
		IF(f->parts, f->comm), IF(f->parts, f->exposed), IF(waits || j->all.answer == MATCHED, w->collectives), IF(waits, w->wait),
		IF(w->judged, w->step_wait), IF(waits, w->last), TEXT(name_of(t, r)) });
#undef IF
}

static int put_rows(struct table *t, const struct ranks_judged *j)
{
	struct open_model o = { 0 };
	int rc = 0;

	for (size_t i = 0; i < j->ranks.n && rc == 0; i++) {
		const struct rank *r = &j->ranks.list[i];
		struct figures f = { 0 };

		if (open_model(&o, r->m) < 0 || gpu_figures(&o, r->process, &f) < 0 || step_figures(r->m, r->process, &f) < 0)
			rc = -1;
		else
			put(t, j, i, &f);
	}
	close_model(&o);
	return rc;
}

/* ---- below it ---- */

static void put_rooted(struct table *t, const struct ranks_judged *j)
{
	const struct late_verdict *v = &j->rooted_verdict;
	char wait[32], least[32], most[32];
	const struct rank *r = &j->ranks.list[v->late];

	if (j->rooted.answer != MATCHED || v->answer != LATE_NAMED || ranks_twice(&j->ranks) >= 0)
		return;
	table_note(t, "broadcast, reduce, gather, scatter (judged apart: a root waits less than others by its part in them): rank %lld waits %s%s, the others %s to %s",
		   (long long)r->number, text_time(wait, v->wait), v->steps ? " per step" : "", text_time(least, v->least), text_time(most, v->most));
}

static void put_notes(struct table *t, const struct ranks_judged *j)
{
	size_t unknown = 0, unmatched = j->all.unmatched;
	char text[RANKS_SENTENCE];

	ranks_sentence(j, text);
	table_note(t, "%s", text);
	if (j->ranks.n < 2)
		return;
	put_rooted(t, j);
	for (size_t i = 0; i < j->ranks.n; i++)
		unknown += j->ranks.list[i].unknown;
	if (j->all.answer == MATCHED && !j->all.by_sequence)
		table_note(t, "collectives have no sequence numbers: the n-th of an operation on each rank is taken for the same one");
	if (unmatched)
		table_note(t, "collectives that no other rank has: %zu; they are not judged", unmatched);
	if (unknown)
		table_note(t, "communication kernels whose operation is not known: %zu; they are not judged", unknown);
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct ranks_judged j;
	int rc = ranks_judge(&j, choice->jobs ? choice->jobs->models : &m, choice->jobs ? choice->jobs->n : 1);

	if (rc == 0)
		rc = put_rows(t, &j);
	if (rc == 0)
		put_notes(t, &j);
	ranks_judged_release(&j);
	return rc;
}

const struct report report_ranks = {
	.name = "ranks",
	.title = "Ranks",
	.help = "each rank: steps, GPU, communication, wait for the other ranks in collectives; which rank is late",
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};
