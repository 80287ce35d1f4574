/* processes: who was in the session, and what is recorded of each. */
#include "cli/analyze/report.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "process", COLUMN_ID }, { "pid", COLUMN_ID },    { "parent", COLUMN_ID }, { "rank", COLUMN_ID },
	{ "start_ns", 0 },        { "end_ns", 0 },         { "api_calls", 0 },      { "kernels", 0 },
	{ "copies", 0 },          { "ranges", 0 },         { "marks", 0 },          { "dropped", 0 },
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

static const char *state_of(struct table *t, const struct process *p)
{
	char text[160];
	size_t n = 0;

	if (!p->described)
		return "not described";
	if (process_attribute(p, "imported"))
		return "imported";
	text[0] = '\0';
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (p->flags & states[i].bit)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", states[i].word);
	return n ? table_keep(t, "%s", text) : "seen";
}

/* A process that never connected wrote no rows because it had none; one that used CUDA without CUPTI had rows that
 * nobody saw. */
static struct cell rows_of(struct model *m, uint32_t position, const struct process *p, unsigned kind)
{
	size_t rows = model_process_rows(m, kind, position);
	bool cuda = kind == ROW_api || kind == ROW_kernel || kind == ROW_memcpy;

	if (!rows && (!p->described || (cuda && p->flags & PROCESS_CUDA && !(p->flags & PROCESS_CUPTI))))
		return UNKNOWN;
	return NUMBER(rows);
}

static struct cell rank_of(const struct process *p)
{
	const char *rank = process_attribute(p, "rank");
	char *end;
	long n = rank ? strtol(rank, &end, 10) : 0;

	return rank && *rank && !*end ? NUMBER(n) : UNKNOWN;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	int64_t begin = model_start(m);

	(void)variant;
	for (uint32_t i = 1; i < n; i++) {
		uint64_t dropped = 0;
		char name[32];

		for (size_t d = 0; d < p[i].n_drops; d++)
			dropped += p[i].drops[d].count;
		table_row(t, (const struct cell[]){
				     NUMBER(p[i].number), p[i].described ? NUMBER(p[i].pid) : UNKNOWN,
				     p[i].parent ? NUMBER(p[i].parent) : UNKNOWN, rank_of(&p[i]),
				     p[i].start ? NUMBER(time_sub(p[i].start, begin)) : UNKNOWN,
				     p[i].end ? NUMBER(time_sub(p[i].end, begin)) : UNKNOWN,
				     rows_of(m, i, &p[i], ROW_api), rows_of(m, i, &p[i], ROW_kernel),
				     rows_of(m, i, &p[i], ROW_memcpy), rows_of(m, i, &p[i], ROW_range),
				     rows_of(m, i, &p[i], ROW_mark), NUMBER(dropped), TEXT(state_of(t, &p[i])),
				     TEXT(table_keep(t, "%s", process_name(&p[i], name, sizeof name))) });
	}
	if (n < 2)
		table_note(t, "no process was seen: the program was not injected (static, set-uid, 32-bit, or a "
			      "cleaned environment)");
	return 0;
}

const struct report report_processes = {
	.name = "processes",
	.title = "Processes",
	.help = "who was in the session, and what is recorded of each",
	COLUMNS(columns),
	.run = run,
};
