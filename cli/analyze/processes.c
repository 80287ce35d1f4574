/* processes: who was in the session, and what is recorded of each. */
#include "cli/analyze/ends.h"
#include "cli/analyze/report.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "process", COLUMN_ID }, { "pid", COLUMN_ID },    { "parent", COLUMN_ID }, { "rank", COLUMN_ID },
	{ "start_ns", 0 },        { "end_ns", 0 },         { "wall_ns", 0 },        { "cpu_ns", 0 },
	{ "api_calls", 0 },       { "kernels", 0 },        { "copies", 0 },         { "ranges", 0 },
	{ "marks", 0 },           { "samples", COLUMN_SPARSE }, { "dropped", 0 },   { "ended", COLUMN_TEXT },
	{ "state", COLUMN_TEXT }, { "name", COLUMN_TEXT },
};

static const struct {
	uint32_t bit;
	const char *word;
} states[] = {
	{ PROCESS_CONNECTED, "connected" }, { PROCESS_NVTX, "nvtx" },
	{ PROCESS_CUDA, "cuda" },           { PROCESS_CUPTI, "cupti" },
	{ PROCESS_KERNELS, "gpu" },         { PROCESS_SIMULATED, "simulated" },
	{ PROCESS_FORKED, "forked" },       { PROCESS_FORKED_CUDA, "forked-after-cuda" },
	{ PROCESS_EXECED, "execed" },       { PROCESS_ENDED, "ended" },
	{ PROCESS_CLEAN, "clean" },
};

static const char *state_of(struct model *m, struct table *t, uint32_t position, const struct process *p)
{
	uint32_t flags = process_all_flags(m, position);
	char text[160];
	size_t n = 0;

	if (!p->described)
		return "not described";
	if (process_attribute(p, "imported"))
		return "imported";
	text[0] = '\0';
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (flags & states[i].bit)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", states[i].word);
	return n ? table_keep(t, "%s", text) : "seen";
}

/*
 * A process that never connected wrote no rows because it had none; one that used CUDA without CUPTI had rows that nobody saw.  Of all its
 * images.
 */
static struct cell rows_of(struct model *m, uint32_t position, const struct process *all, unsigned kind)
{
	bool cuda = kind == ROW_api || kind == ROW_kernel || kind == ROW_memcpy, known = true;
	size_t rows = 0;

	for (uint32_t i = position; i; i = all[i].after) {
		rows += model_process_rows(m, kind, i);
		known &= all[i].described && !(cuda && all[i].flags & PROCESS_CUDA && !(all[i].flags & PROCESS_CUPTI));
	}
	return rows || known ? NUMBER(rows) : UNKNOWN;
}

/* Where nothing sampled, no sample says nothing. */
static struct cell samples_of(struct model *m, uint32_t position, const struct process *all)
{
	bool sampled = false;

	for (uint32_t i = position; i; i = all[i].after)
		sampled |= model_process_rows(m, ROW_sample, i) || process_attribute(&all[i], "sampling");
	return sampled ? rows_of(m, position, all, ROW_sample) : UNKNOWN;
}

static struct cell rank_of(const struct process *all, uint32_t position)
{
	struct cell rank = UNKNOWN;

	for (uint32_t i = position; i; i = all[i].after) {
		const char *text = process_attribute(&all[i], "rank");
		char *end;
		long n = text ? strtol(text, &end, 10) : 0;

		if (text && *text && !*end)
			rank = NUMBER(n);
	}
	return rank;
}

static uint64_t dropped_of(const struct process *all, uint32_t position)
{
	uint64_t dropped = 0;

	for (uint32_t i = position; i; i = all[i].after)
		for (size_t d = 0; d < all[i].n_drops; d++)
			dropped += all[i].drops[d].count;
	return dropped;
}

static void put_process(struct model *m, struct table *t, const struct process *all, uint32_t i)
{
	const struct process *p = &all[i], *last = process_last(m, i);
	int64_t begin = model_start(m), end = process_runs(m, i) ? model_end(m) : last->end;
	char name[256], how[32];
	const char *ended = end_words(m, i, how);

	table_row(t, (const struct cell[]){
			     NUMBER(p->number), p->described ? NUMBER(p->pid) : UNKNOWN,
			     p->parent ? NUMBER(p->parent) : UNKNOWN, rank_of(all, i),
			     p->start ? NUMBER(time_sub(p->start, begin)) : UNKNOWN,
			     last->end ? NUMBER(time_sub(last->end, begin)) : UNKNOWN,
			     p->start && end ? NUMBER(time_sub(end, p->start)) : UNKNOWN,
			     last->cpu ? NUMBER(last->cpu) : UNKNOWN,
			     rows_of(m, i, all, ROW_api), rows_of(m, i, all, ROW_kernel), rows_of(m, i, all, ROW_memcpy),
			     rows_of(m, i, all, ROW_range), rows_of(m, i, all, ROW_mark), samples_of(m, i, all),
			     NUMBER(dropped_of(all, i)), ended ? TEXT(table_keep(t, "%s", ended)) : UNKNOWN,
			     TEXT(state_of(m, t, i, p)),
			     TEXT(table_keep(t, "%s", process_images(m, i, name, sizeof name))) });
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	uint32_t unknown = 0, imported = 0;

	(void)variant;
	for (uint32_t i = 1; i < n; i++) {
		const struct process *last = process_last(m, i);

		if (p[i].before || !model_process_selected(m, i))
			continue;
		put_process(m, t, p, i);
		if (process_attribute(&p[i], "imported"))
			imported++;
		else
			unknown += last->flags & PROCESS_ENDED && (!last->cpu || !last->how);
	}
	if (n < 2)
		table_note(t, "no process was seen: the program was not injected (static, set-uid, 32-bit, or a "
			      "cleaned environment)");
	if (unknown)
		table_note(t, "cpu_ns or ended is not known of %u process%s: the parent waited for the process before the collector could look",
			   unknown, unknown == 1 ? "" : "es");
	if (imported)
		table_note(t, "cpu_ns and ended are not known: the imported file does not have them");
	return 0;
}

const struct report report_processes = {
	.name = "processes",
	.title = "Processes",
	.help = "who was in the session, and what is recorded of each",
	COLUMNS(columns),
	.run = run,
};
