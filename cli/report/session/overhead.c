/* overhead: the measured cost of recording. */
#include "cli/report/session/overhead.h"

#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/stats.h"

static const struct heading columns[] = {
	{ "source", COLUMN_TEXT }, { "process", COLUMN_ID }, { "pid", COLUMN_ID },    { "count", 0 },
	{ "total_ns", 0 },         { "mean_ns", 0 },         { "what", COLUMN_TEXT },
};

static void put_cost(struct table *t, const char *source, const struct process *p, uint64_t count, struct cell total,
		     const char *what)
{
	bool known = count && total.kind == CELL_NUMBER;

	table_row(t, (const struct cell[]){
		TEXT(source), NUMBER(p->number), p->described ? NUMBER(p->pid) : UNKNOWN, NUMBER(count), total,
		known ? NUMBER(((uint64_t)total.number + count / 2) / count) : UNKNOWN, TEXT(what) });
}

int64_t overhead_here(struct model *m, size_t *known)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	int64_t sum = 0;

	*known = 0;
	for (uint32_t i = 0; i < n; i++)
		for (size_t c = 0; c < p[i].n_costs && model_process_selected(m, i); c++, ++*known)
			if (p[i].costs[c].place != COST_buffer && p[i].costs[c].place != COST_flush)
				sum = time_add(sum, p[i].costs[c].total);
	return sum;
}

/* Adds overhead rows of CUPTI; key: process << 32 | kind. */
static int add_batch(const struct batch *b, void *state)
{
	const int64_t *duration = b->column[0];
	const uint32_t *kind = b->column[1];

	for (size_t i = 0; i < b->n; i++) {
		struct series *s = groups_get(state, (uint64_t)b->process << 32 | kind[i]);

		if (!s || !series_add(s, duration[i]))
			return -1;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct series *p = a, *q = b;

	return p->key < q->key ? -1 : p->key > q->key;
}

static int put_cupti(struct model *m, struct table *t, const struct process *p)
{
	static const unsigned fields[] = { COL_overhead_duration, COL_overhead_kind };
	struct groups groups[MODEL_WORKERS] = { 0 };
	void *const states[MODEL_WORKERS] = { &groups[0], &groups[1] };
	int rc = model_scan_all(m, ROW_overhead, fields, 2, add_batch, states);

	groups_merge(&groups[0], &groups[1]);
	if (groups[0].oom)
		rc = -1;
	if (groups[0].n)
		qsort(groups[0].list, groups[0].n, sizeof *groups[0].list, by_key);
	for (size_t i = 0; rc == 0 && i < groups[0].n; i++) {
		const struct series *s = &groups[0].list[i];
		const char *words = overhead_words((unsigned)s->key);

		put_cost(t, "cupti", &p[s->key >> 32], s->rows, s->n ? NUMBER(s->sum) : UNKNOWN,
			 words ? words : table_keep(t, "kind 0x%x", (unsigned)s->key));
	}
	groups_release(&groups[0]);
	return rc;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	size_t known;
	int64_t here;
	char text[32];

	(void)variant;
	for (uint32_t i = 0; i < n; i++)
		for (size_t c = 0; c < p[i].n_costs && model_process_selected(m, i); c++) {
			const struct cost *cost = &p[i].costs[c];
			const char *words = cost_words(cost->place);

			if (cost->count)
				put_cost(t, "gprof", &p[i], cost->count, NUMBER(cost->total),
					 words ? words : table_keep(t, "place %u", cost->place));
		}
	if (put_cupti(m, t, p) < 0)
		return -1;
	if (model_imported(m)) {
		table_note(t, t->n_rows ? "as in the imported file; the overhead of its profiler itself is unknown"
					: "the imported file has no rows about overhead");
		return 0;
	}
	here = overhead_here(m, &known);
	if (known)
		table_note(t, "sum on the program's threads: %s: the gprof rows without buffers and periodic flushes, which run on other threads",
			   text_time(text, here));
	table_note(t, "source gprof: measured by gprof-run in the program; source cupti: reported by CUPTI, which does not tell the thread; not in the sum");
	table_note(t, "not measured: recording each call and range (tens of ns each), and what CUPTI adds to each CUDA "
		      "call and kernel");
	return 0;
}

const struct report report_overhead = {
	.name = "overhead",
	.title = "Overhead of Recording",
	.help = "How much time did recording take: the profiler's own and CUPTI's, as far as measured?",
	.whole = true,
	COLUMNS(columns),
	.run = run,
};
