/*
 * processes: the processes of the session, and what is recorded of each.  Text tables show a tree; processes that recorded nothing are
 * folded into one row per parent.
 */
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/report.h"
#include "cli/report/session/ends.h"
#include "cli/report/session/process_tree.h"
#include "cli/report/session/wrappers.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 10              /* deeper levels are indented like level 10 */

static const struct heading columns[] = {
	{ "process", COLUMN_ID | COLUMN_KEY }, { "pid", COLUMN_ID | COLUMN_KEY },    { "parent", COLUMN_ID | COLUMN_RARE }, { "rank", COLUMN_ID },
	{ "start_ns", COLUMN_RARE },        { "end_ns", COLUMN_RARE },         { "wall_ns", COLUMN_KEY },        { "cpu_ns", 0 },
	{ "api_calls", 0 },       { "kernels", 0 },        { "copies", COLUMN_RARE },         { "ranges", 0 },
	{ "marks", COLUMN_RARE },           { "samples", COLUMN_SPARSE }, { "dropped", 0 },   { "ended", COLUMN_TEXT | COLUMN_KEY },
	{ "state", COLUMN_TEXT | COLUMN_RARE }, { "name", COLUMN_TEXT | COLUMN_KEY },
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
 * Number of rows of a kind in all images of a process.  0 rows are known for a process that never connected (it had nothing to write);
 * unknown for CUDA rows of a process that used CUDA without CUPTI.
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

/* Number of samples; unknown when the process was not sampled. */
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

#define N_COLUMNS (sizeof columns / sizeof *columns)

static void cells_of(struct model *m, struct table *t, const struct process *all, uint32_t i, const char *images, struct cell *cells)
{
	const struct process *p = &all[i], *last = process_last(m, i);
	int64_t begin = model_start(m), end = process_runs(m, i) ? model_end(m) : last->end;
	char how[32];
	const char *ended = end_words(m, i, how);
	const struct cell row[N_COLUMNS] = {
		NUMBER(p->number), p->described ? NUMBER(p->pid) : UNKNOWN,
		p->parent ? NUMBER(p->parent) : UNKNOWN, rank_of(all, i),
		p->start ? NUMBER(time_sub(p->start, begin)) : UNKNOWN,
		last->end ? NUMBER(time_sub(last->end, begin)) : UNKNOWN,
		p->start && end ? NUMBER(time_sub(end, p->start)) : UNKNOWN,
		last->cpu ? NUMBER(last->cpu) : UNKNOWN,
		rows_of(m, i, all, ROW_api), rows_of(m, i, all, ROW_kernel), rows_of(m, i, all, ROW_memcpy),
		rows_of(m, i, all, ROW_range), rows_of(m, i, all, ROW_mark), samples_of(m, i, all),
		NUMBER(dropped_of(all, i)), ended ? TEXT(table_keep(t, "%s", ended)) : UNKNOWN,
		TEXT(state_of(m, t, i, p)), TEXT(images),
	};

	memcpy(cells, row, sizeof row);
}

static void put_process(struct model *m, struct table *t, const struct process *all, uint32_t i, int indent)
{
	struct cell cells[N_COLUMNS];
	char name[256];

	cells_of(m, t, all, i, table_keep(t, "%*s%s", indent, "", process_images(m, i, name, sizeof name)), cells);
	table_row(t, cells);
}

enum { PROCESS = 0, PID = 1, PARENT = 2, RANK = 3, START = 4, END = 5, WALL = 6, CPU = 7, DROPPED = 14, ENDED = 15, STATE = 16, NAME = 17 };

/* Adds a process to a folded row: first start, last end, sums of the known numbers, the state if it is the same. */
static void add_cells(struct cell *sum, const struct cell *one)
{
	if (one[START].kind == CELL_NUMBER && (sum[START].kind != CELL_NUMBER || one[START].number < sum[START].number))
		sum[START] = one[START];
	if (one[END].kind == CELL_NUMBER && (sum[END].kind != CELL_NUMBER || one[END].number > sum[END].number))
		sum[END] = one[END];
	for (size_t i = CPU; i <= DROPPED; i++)
		if (one[i].kind == CELL_NUMBER)
			sum[i] = NUMBER(time_add(sum[i].kind == CELL_NUMBER ? sum[i].number : 0, one[i].number));
	if (sum[STATE].kind == CELL_TEXT && strcmp(sum[STATE].text, one[STATE].text) != 0)
		sum[STATE] = UNKNOWN;
}

/* One row for n processes that recorded nothing.  Returns 0, or -1 when out of memory. */
static int put_folded(struct model *m, struct table *t, const struct process *all, const uint32_t *members, uint32_t n, int indent)
{
	struct tally names = { 0 }, ends = { 0 };
	struct cell sum[N_COLUMNS], one[N_COLUMNS];
	char text[256], name[32];
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		cells_of(m, t, all, members[i], "", one);
		if (i)
			add_cells(sum, one);
		else
			memcpy(sum, one, sizeof sum);
		rc = tally_add(&names, process_name(process_last(m, members[i]), name, sizeof name));
		rc = rc == 0 ? tally_add(&ends, one[ENDED].kind == CELL_TEXT ? one[ENDED].text : "unknown") : rc;
	}
	sum[PROCESS] = sum[PID] = sum[RANK] = sum[WALL] = UNKNOWN;
	tally_text(&names, text, sizeof text);
	sum[NAME] = TEXT(table_keep(t, "%*s%s, recorded nothing", indent, "", text));
	tally_text(&ends, text, sizeof text);
	if (ends.n > 1)
		sum[ENDED] = TEXT(table_keep(t, "%s", text));
	table_row(t, sum);
	tally_release(&names);
	tally_release(&ends);
	return rc;
}

/* Rows in the order of the tree, indented unless --sort changes the order.  Returns 0, or -1 when out of memory. */
static int put_tree(struct model *m, struct table *t, const struct process *all, bool fold)
{
	struct process_tree tree;
	uint32_t folded = 0, lines = 0;
	int rc = process_tree_make(&tree, m, fold);

	for (uint32_t i = 0; i < tree.n_lines && rc == 0; i++) {
		const struct tree_line *line = &tree.lines[i];
		int indent = t->tables->sort ? 0 : 2 * (int)(line->depth < DEEPEST ? line->depth : DEEPEST);

		if (line->n == 1) {
			put_process(m, t, all, tree.members[line->first], indent);
			continue;
		}
		rc = put_folded(m, t, all, &tree.members[line->first], line->n, indent);
		folded += line->n;
		lines++;
	}
	if (folded)
		table_note(t, "folded: %u processes that recorded nothing, in %u row%s; gprof-trace report -r processes --all lists each",
			   folded, lines, lines == 1 ? "" : "s");
	process_tree_release(&tree);
	return rc;
}

/* Notes for how many processes cpu_ns or ended is unknown, and why. */
static void note_unknown(struct model *m, struct table *t, const struct process *p, uint32_t n)
{
	uint32_t unknown = 0, imported = 0;

	for (uint32_t i = 1; i < n; i++) {
		const struct process *last = process_last(m, i);

		if (p[i].before || !model_process_selected(m, i))
			continue;
		if (process_attribute(&p[i], "imported"))
			imported++;
		else
			unknown += last->flags & PROCESS_ENDED && (!last->cpu || !last->how);
	}
	if (unknown)
		table_note(t, "cpu_ns or ended is unknown for %u process%s: the parent reaped the process before the collector read it",
			   unknown, unknown == 1 ? "" : "es");
	if (imported)
		table_note(t, "cpu_ns and ended are not known: the imported file does not have them");
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	if (t->tables->format == TABLE_TEXT && put_tree(m, t, p, !variant) < 0)
		return -1;
	for (uint32_t i = 1; i < n && t->tables->format != TABLE_TEXT; i++)
		if (!p[i].before && model_process_selected(m, i))
			put_process(m, t, p, i, 0);
	if (n < 2)
		table_note(t, "no process was seen: the program was not injected (static, set-uid, 32-bit, or a "
			      "cleaned environment)");
	note_unknown(m, t, p, n);
	return 0;
}

const struct report report_processes = {
	.name = "processes",
	.title = "Processes",
	.help = "Which processes were in the session, and what is recorded of each?",
	.variants = "all",
	COLUMNS(columns),
	.run = run,
};
