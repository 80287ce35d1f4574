/* health: everything that kept the trace from being complete, with what to do next. */
#include "cli/analyze/lost.h"
#include "cli/analyze/report.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "process", COLUMN_ID },
	{ "pid", COLUMN_ID },
	{ "reason", COLUMN_TEXT },
	{ "count", 0 },
	{ "first_ns", 0 },
	{ "last_ns", 0 },
	{ "what", COLUMN_TEXT },
	{ "detail", COLUMN_TEXT | COLUMN_BELOW },
	{ "next", COLUMN_TEXT | COLUMN_BELOW },
};

/* Times count from the session's start. */
static struct cell when(struct model *m, int64_t t)
{
	return t ? NUMBER(time_sub(t, model_start(m))) : UNKNOWN;
}

static struct cell pid_of(const struct process *p)
{
	return p->described ? NUMBER(p->pid) : UNKNOWN;
}

static void put_health(struct model *m, struct table *t, const struct process *p, const struct health *h)
{
	const char *name = health_name(h->reason), *what = health_what(h->reason), *next = health_next(h->reason);

	if (!h->count)
		return;
	table_row(t, (const struct cell[]){
			     NUMBER(p->number), pid_of(p), TEXT(name ? name : table_keep(t, "reason %u", h->reason)),
			     NUMBER(h->count), when(m, h->first), when(m, h->last),
			     TEXT(what ? what : "a reason that this program does not know; use a newer one"),
			     TEXT(h->detail), TEXT(next ? next : "") });
}

static void put_drop(struct model *m, struct table *t, const struct process *p, const struct drop *d)
{
	const char *where = drop_words(d->where);

	if (!d->count)
		return;
	table_row(t, (const struct cell[]){
		NUMBER(p->number), pid_of(p), TEXT("dropped"), NUMBER(d->count), when(m, d->first), when(m, d->last),
		TEXT(table_keep(t, "%s were not kept", kind_words(d->kind))),
		TEXT(where ? where : table_keep(t, "place %u", d->where)),
		TEXT(d->where == 0 ? "raise --arena-size, or record fewer kinds with -t" :
		     d->where == 1 ? "raise --max-size, or free space" : "raise --cuda-buffer-limit") });
}

/* Not counted by anybody when it happened: found by comparing rows. */
static int put_lost(struct model *m, struct table *t, const struct process *p, uint32_t n)
{
	uint64_t *lost = lost_launches(m);

	if (!lost)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (lost[i])
			table_row(t, (const struct cell[]){
				NUMBER(p[i].number), pid_of(&p[i]), TEXT("no_kernel"), NUMBER(lost[i]), UNKNOWN, UNKNOWN,
				TEXT("kernels that were launched, and of which nothing arrived"), TEXT(""),
				TEXT("the reasons above, if any; without one their context went, or the process ended, before CUPTI delivered them") });
	free(lost);
	return 0;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	const char *damage;

	(void)variant;
	for (uint32_t i = 0; i < n; i++) {
		if (!model_process_selected(m, i))
			continue;
		for (size_t h = 0; h < p[i].n_health; h++)
			put_health(m, t, &p[i], &p[i].health[h]);
		for (size_t d = 0; d < p[i].n_drops; d++)
			put_drop(m, t, &p[i], &p[i].drops[d]);
	}
	if (put_lost(m, t, p, n) < 0)
		return -1;
	for (size_t i = 0; (damage = model_damage(m, i)); i++)
		table_row(t, (const struct cell[]){ UNKNOWN, UNKNOWN, TEXT("damaged"), NUMBER(1), UNKNOWN, UNKNOWN,
						    TEXT("a part of the file cannot be read"), TEXT(damage),
						    TEXT("gprof-trace check lists all such places") });
	if (model_imported_from(m))
		table_note(t, "Imported from %s. What that profiler did not record is not known here.", model_imported_from(m));
	else if (!t->n_rows)
		table_note(t, "nothing is known to be missing from this trace");
	return 0;
}

const struct report report_health = {
	.name = "health",
	.title = "What is missing, and why",
	.help = "what kept the trace from being complete, and what to do",
	.whole = true,
	COLUMNS(columns),
	.run = run,
};
