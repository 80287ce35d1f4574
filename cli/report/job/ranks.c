/* ranks: times of each rank of a job, how long it waits in collectives, and the late rank ("Ranks" in docs/reference/numbers.md). */
#include "cli/report/job/ranks.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/choice.h"
#include "cli/report/parts/report.h"
#include "cli/report/steps/step_stats.h"
#include "cli/report/steps/step_times.h"

#include <stdlib.h>
#include <string.h>

static const struct heading columns[] = {
	{ "rank", COLUMN_ID | COLUMN_KEY }, { "process", COLUMN_ID | COLUMN_RARE }, { "host", COLUMN_TEXT | COLUMN_SPARSE },
	{ "steps", 0 }, { "wall_ns", COLUMN_SPARSE | COLUMN_KEY }, { "span_ns", COLUMN_RARE }, { "busy_ns", 0 }, { "busy_pct", COLUMN_KEY },
	{ "comm_ns", 0 }, { "comm_exposed_ns", COLUMN_KEY }, { "collectives", 0 }, { "wait_ns", 0 }, { "step_wait_ns", COLUMN_KEY },
	{ "last", 0 }, { "name", COLUMN_TEXT },
};

/* ---- GPU and steps of one rank ---- */

struct figures {
	int64_t span, busy, comm, exposed, wall;
	size_t steps;
	bool gpu, parts;                /* gpu: span and busy are known; parts: comm and exposed are known, too */
};

static int gpu_figures(const struct job_rank *r, struct figures *f)
{
	struct spans alone = { 0 };
	struct job_times g;
	int rc = job_gpu_times(r, &g);

	if (rc == 0 && job_times_known(&g)) {
		rc = spans_subtract(&g.of[GPU_COMM], &g.of[GPU_COMPUTE], &alone);
		f->span = spans_length(&g.span);
		f->busy = spans_length(&g.all);
		f->comm = spans_length(&g.of[GPU_COMM]);
		f->exposed = spans_length(&alone);
		f->gpu = true;
		f->parts = !g.of[GPU_GRAPHS].n;
	}
	spans_release(&alone);
	job_times_release(&g);
	return rc;
}

/* Number and median wall time of the steps of all kinds that are recorded, complete and not warm-up. */
static int step_figures(const struct job_rank *r, struct figures *f)
{
	const struct steps *s = model_steps(r->m);
	int64_t *wall = s ? malloc(s->n * sizeof *wall + 1) : NULL;

	for (size_t i = 0; wall && i < s->n; i++) {
		const struct step *step = &s->list[i];

		if (step->process >= r->first && step->process < r->end && step->selected && step_was_kept(s, step) && !(step->flags & STEP_INCOMPLETE))
			wall[f->steps++] = time_sub(step->end, step->start);
	}
	if (wall && f->steps)
		f->wall = percentile_of(wall, f->steps, 50);
	free(wall);
	return wall ? 0 : -1;
}

/* ---- the table ---- */

static struct cell host_cell(struct table *t, const struct job_rank *r)
{
	const char *host = model_attribute(r->m, "host");

	return host && *host ? TEXT(table_keep(t, "%s", host)) : UNKNOWN;
}

static const char *name_of(struct table *t, const struct job_rank *r)
{
	uint32_t n;
	const struct process *p = &model_processes(r->m, &n)[r->first];
	const char *file = process_attribute(p, "imported.file"), *slash = file ? strrchr(file, '/') : NULL;
	char name[32];

	return table_keep(t, "%s", file ? slash ? slash + 1 : file : process_name(p, name, sizeof name));
}

static void put_rank(struct table *t, const struct ranks_judged *j, size_t rank, const struct figures *f)
{
	const struct job_rank *r = &j->ranks.job.list[rank];
	const struct late_rank *w = &j->waits[rank];
	uint32_t n;
	bool waits = w->collectives != 0;

#define IF(known, n) ((known) ? NUMBER(n) : UNKNOWN)
	table_row(t, (const struct cell[]){
		NUMBER(r->number), NUMBER(model_processes(r->m, &n)[r->first].number), host_cell(t, r), NUMBER(f->steps),
		IF(f->steps, f->wall), IF(f->gpu, f->span), IF(f->gpu, f->busy),
		f->gpu ? job_pct(f->busy, f->span) : UNKNOWN,
		IF(f->parts, f->comm), IF(f->parts, f->exposed), IF(waits || j->all.answer == MATCHED, w->collectives), IF(waits, w->wait),
		IF(w->judged, w->step_wait), IF(waits, w->last), TEXT(name_of(t, r)) });
#undef IF
}

static int put_rows(struct table *t, const struct ranks_judged *j)
{
	int rc = 0;

	for (size_t i = 0; i < j->ranks.job.n && rc == 0; i++) {
		struct figures f = { 0 };

		rc = gpu_figures(&j->ranks.job.list[i], &f) < 0 || step_figures(&j->ranks.job.list[i], &f) < 0 ? -1 : 0;
		if (rc == 0)
			put_rank(t, j, i, &f);
	}
	return rc;
}

/* ---- notes ---- */

static void put_rooted(struct table *t, const struct ranks_judged *j)
{
	const struct late_verdict *v = &j->rooted_verdict;
	char wait[32], least[32], most[32], others[80];

	if (j->rooted.answer != MATCHED || v->answer != LATE_NAMED || ranks_twice(&j->ranks) >= 0)
		return;
	text_time(least, v->least);
	text_time(most, v->most);
	snprintf(others, sizeof others, v->least == v->most ? "the other rank %s" : "the other ranks %s to %s", least, most);
	table_note(t, "broadcast, reduce, gather, scatter (judged separately, because a root waits less by its role): rank %lld "
		   "waits %s%s, %s",
		   (long long)j->ranks.job.list[v->late].number, text_time(wait, v->wait), v->steps ? " per step" : "", others);
}

static void put_notes(struct table *t, const struct ranks_judged *j)
{
	size_t unknown = 0, unmatched = j->all.unmatched;
	char text[RANKS_SENTENCE];

	ranks_sentence(j, text);
	table_note(t, "%s", text);
	if (j->ranks.job.n < 2)
		return;
	put_rooted(t, j);
	for (size_t i = 0; i < j->ranks.job.n; i++)
		unknown += j->ranks.unknown[i];
	if (j->all.answer == MATCHED && !j->all.by_sequence)
		table_note(t, "collectives have no sequence numbers: the n-th of an operation on each rank is assumed to be the same one");
	if (unmatched)
		table_note(t, "collectives that no other rank has: %zu; they are not judged", unmatched);
	if (unknown)
		table_note(t, "communication kernels whose operation is not known: %zu; they are not judged", unknown);
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct ranks_judged j;
	int rc = ranks_judge(&j, m, choice);

	if (rc == 0)
		rc = put_rows(t, &j);
	if (rc == 0)
		put_notes(t, &j);
	ranks_judged_release(&j);
	return rc;
}

const struct report report_ranks = {
	.name = "ranks",
	.share = "busy_pct: share of the rank's span",
	.title = "Ranks",
	.help = "Which rank is late, and how long do the other ranks wait for it?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};
