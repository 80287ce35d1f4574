/*
 * health: what the trace lacks, why, and what to do next.  In text tables, a reason of several processes that recorded nothing is one row.
 */
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/origin.h"
#include "cli/report/parts/report.h"
#include "cli/report/session/lost.h"
#include "cli/report/session/wrappers.h"

#include <stdlib.h>
#include <string.h>

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

/* Nanoseconds since the session's start; unknown for 0. */
static struct cell when(struct model *m, int64_t t)
{
	return t ? NUMBER(time_sub(t, model_start(m))) : UNKNOWN;
}

static struct cell pid_of(const struct process *p)
{
	return p->described ? NUMBER(p->pid) : UNKNOWN;
}

static void put_reason(struct model *m, struct table *t, struct cell process, struct cell pid, const struct health *h)
{
	const char *name = health_name(h->reason), *what = health_what(h->reason), *next = health_next(h->reason);

	table_row(t, (const struct cell[]){
			     process, pid, TEXT(name ? name : table_keep(t, "reason %u", h->reason)),
			     NUMBER(h->count), when(m, h->first), when(m, h->last),
			     TEXT(what ? what : "unknown reason: use a newer gprof-trace"),
			     TEXT(h->detail), TEXT(next ? next : "") });
}

/* ---- reasons of processes that recorded nothing ---- */

/*
 * By image: the position of the first image of its process, if the process recorded nothing; else 0, as without fold.  The caller frees the
 * array.  NULL: out of memory.
 */
static uint32_t *find_quiet(struct model *m, const struct process *all, uint32_t n, bool fold)
{
	uint32_t *quiet = calloc(n + 1, sizeof *quiet);

	for (uint32_t i = 1; i < n && quiet && fold; i++)
		if (!all[i].before && model_process_selected(m, i) && process_recorded_nothing(m, i))
			for (uint32_t image = i; image; image = all[image].after)
				quiet[image] = i;
	return quiet;
}

static const struct health *health_of(const struct process *p, uint32_t reason)
{
	for (size_t h = 0; h < p->n_health; h++)
		if (p->health[h].reason == reason && p->health[h].count)
			return &p->health[h];
	return NULL;
}

/* The first image of the process, from position on, that has the reason; 0: none. */
static uint32_t image_with(const struct process *all, uint32_t position, uint32_t reason)
{
	while (position && !health_of(&all[position], reason))
		position = all[position].after;
	return position;
}

/* Adds this reason of all images of a process, from position on, to *sum.  Clears *same when details differ. */
static void add_health(struct health *sum, const struct process *all, uint32_t position, uint32_t reason, bool *same)
{
	for (; (position = image_with(all, position, reason)); position = all[position].after) {
		const struct health *h = health_of(&all[position], reason);

		sum->detail = sum->detail ? sum->detail : h->detail;
		*same &= strcmp(sum->detail, h->detail) == 0;
		sum->count += h->count;
		sum->first = h->first && (!sum->first || h->first < sum->first) ? h->first : sum->first;
		sum->last = h->last > sum->last ? h->last : sum->last;
	}
}

/* One row for this reason of all processes that recorded nothing. */
static void put_folded(struct model *m, struct table *t, const struct process *all, uint32_t n, const uint32_t *quiet, uint32_t reason)
{
	struct health sum = { .reason = reason };
	struct tally names = { 0 };
	uint32_t processes = 0;
	bool same = true;
	char text[256], name[32];

	for (uint32_t i = 1; i < n; i++) {
		if (quiet[i] != i || !image_with(all, i, reason))
			continue;
		add_health(&sum, all, i, reason, &same);
		t->failed |= tally_add(&names, process_name(process_last(m, i), name, sizeof name)) < 0;
		processes++;
	}
	tally_text(&names, text, sizeof text);
	sum.detail = table_keep(t, "of %u processes that recorded nothing (%s)%s%s", processes, text,
				!*sum.detail ? "" : same ? ": " : ", for example: ", sum.detail);
	put_reason(m, t, UNKNOWN, UNKNOWN, &sum);
	tally_release(&names);
}

/* Whether two or more processes that recorded nothing have this reason.  *first: `at` is the first image with it. */
static bool has_others(const struct process *all, uint32_t n, const uint32_t *quiet, uint32_t at, uint32_t reason, bool *first)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < n && found < 2; i++) {
		uint32_t image = quiet[i] == i ? image_with(all, i, reason) : 0;

		if (image && !found++)
			*first = image == at;
	}
	return found > 1;
}

/* Prints the reasons of image i.  Returns whether one of them is in a folded row. */
static bool put_health(struct model *m, struct table *t, const struct process *all, uint32_t n, const uint32_t *quiet, uint32_t i)
{
	bool folded = false;

	for (size_t h = 0; h < all[i].n_health; h++) {
		const struct health *one = &all[i].health[h];
		bool first = false;

		if (!one->count)
			continue;
		if (!quiet[i] || !has_others(all, n, quiet, i, one->reason, &first)) {
			put_reason(m, t, NUMBER(all[i].number), pid_of(&all[i]), one);
			continue;
		}
		if (first)
			put_folded(m, t, all, n, quiet, one->reason);
		folded = true;
	}
	return folded;
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

/* Kernels that were launched but not recorded, found by comparing rows (lost.h): no counter reports them. */
static int put_lost(struct model *m, struct table *t, const struct process *p, uint32_t n)
{
	uint64_t *lost = lost_launches(m);

	if (!lost)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (lost[i])
			table_row(t, (const struct cell[]){
				NUMBER(p[i].number), pid_of(&p[i]), TEXT("no_kernel"), NUMBER(lost[i]), UNKNOWN, UNKNOWN,
				TEXT("kernels that were launched but not recorded"), TEXT(""),
				TEXT("see the reasons above; without one, the context was destroyed or the process ended before CUPTI "
				     "delivered them") });
	free(lost);
	return 0;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	uint32_t *quiet = find_quiet(m, p, n, t->tables->format == TABLE_TEXT && !variant);
	bool folded = false;
	const char *damage;

	if (!quiet)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (!model_process_selected(m, i))
			continue;
		folded |= put_health(m, t, p, n, quiet, i);
		for (size_t d = 0; d < p[i].n_drops; d++)
			put_drop(m, t, &p[i], &p[i].drops[d]);
	}
	free(quiet);
	if (folded)
		table_note(t, "folded: processes that recorded nothing, in one row for each reason; gprof-trace report -r health --all lists each");
	if (put_lost(m, t, p, n) < 0)
		return -1;
	for (size_t i = 0; (damage = model_damage(m, i)); i++)
		table_row(t, (const struct cell[]){ UNKNOWN, UNKNOWN, TEXT("damaged"), NUMBER(1), UNKNOWN, UNKNOWN,
						    TEXT("a part of the file cannot be read"), TEXT(damage),
						    TEXT("gprof-trace check lists all such places") });
	if (model_imported(m))
		table_note(t, "Imported from %s. What that profiler did not record is not known here.", imported_from(m));
	else if (!t->n_rows)
		table_note(t, "nothing is known to be missing from this trace");
	return 0;
}

const struct report report_health = {
	.name = "health",
	.title = "What Is Missing, and Why",
	.help = "What is missing in the trace, why, and what helps?",
	.whole = true,
	.variants = "all",
	COLUMNS(columns),
	.run = run,
};
