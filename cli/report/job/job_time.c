/* temporal, overlap, kernel_types: GPU time of each rank by kind of work ("GPU quantities" in docs/reference/numbers.md). */
#include "cli/report/job/job.h"

#include "cli/model/steps/steps.h"
#include "cli/report/parts/stats.h"
#include "cli/report/parts/why.h"

/* Times of a rank in ns; -1: unknown. */
struct time_figures {
	int64_t span, busy, idle, compute, comm, exposed, overlap, memcpy, memset;
};

static const struct time_figures nothing = { -1, -1, -1, -1, -1, -1, -1, -1, -1 };

/* With a whole graph in the span only span, busy and idle are known: the kernels in it were not recorded. */
static int figures_of(const struct job_times *g, struct time_figures *f)
{
	struct spans exposed = { 0 };
	int rc = 0;

	*f = nothing;
	if (!job_times_known(g))
		return 0;
	f->span = spans_length(&g->span);
	f->busy = spans_length(&g->all);
	f->idle = time_sub(f->span, f->busy);
	if (g->of[GPU_GRAPHS].n)
		return 0;
	f->compute = spans_length(&g->of[GPU_COMPUTE]);
	f->comm = spans_length(&g->of[GPU_COMM]);
	f->memcpy = spans_length(&g->of[GPU_COPIES]);
	f->memset = spans_length(&g->of[GPU_SETS]);
	rc = spans_subtract(&g->of[GPU_COMM], &g->of[GPU_COMPUTE], &exposed);
	f->exposed = spans_length(&exposed);
	f->overlap = time_sub(f->comm, f->exposed);
	spans_release(&exposed);
	return rc;
}

static struct cell known(int64_t ns)
{
	return ns < 0 ? UNKNOWN : NUMBER(ns);
}

/* Why some figures of a rank are unknown. */
static void note_rank(struct table *t, const struct job_rank *r, const struct job_times *g)
{
	if (!job_times_known(g))
		job_note_no_gpu(t, r, g);
	else if (g->of[GPU_GRAPHS].n)
		table_note(t, "rank %lld launched CUDA graphs that are one row each; what ran inside them was not recorded "
			      "(--cuda-graph-trace=node records it)", (long long)r->number);
}

/* Adds the times of a rank; a sum is unknown when one of its times is. */
static void add_up(struct time_figures *sum, const struct time_figures *f)
{
	int64_t *to = &sum->span;
	const int64_t *from = &f->span;

	for (size_t i = 0; i < sizeof *f / sizeof *to; i++)
		to[i] = to[i] < 0 || from[i] < 0 ? -1 : time_add(to[i], from[i]);
}

/* Runs a report with one row per rank.  put: prints the row; end: adds notes about all ranks. */
static int each_rank(struct model *m, struct table *t, const struct report_choice *choice,
		     void (*put)(struct table *t, int64_t rank, const struct time_figures *f),
		     void (*end)(struct table *t, const struct job *j, const struct time_figures *sum))
{
	struct time_figures sum = { 0 };
	bool known = false;
	struct job j;
	int rc = job_begin(&j, m, choice);

	for (size_t i = 0; rc == 0 && i < j.n; i++) {
		struct job_times g;
		struct time_figures f;

		rc = job_gpu_times(&j.list[i], &g);
		if (rc == 0)
			rc = figures_of(&g, &f);
		if (rc == 0) {
			put(t, j.list[i].number, &f);
			note_rank(t, &j.list[i], &g);
			add_up(&sum, &f);
		}
		known |= job_times_known(&g);
		job_times_release(&g);
	}
	if (rc == 0 && known)
		end(t, &j, &sum);
	if (rc == 0 && !known)
		why_no_gpu(m, t, "GPU times");
	job_end(&j);
	return rc;
}

/* ---- temporal ---- */

static const struct heading temporal_columns[] = {
	{ "rank", COLUMN_ID }, { "span_ns", 0 }, { "busy_ns", 0 }, { "busy_pct", 0 }, { "idle_ns", 0 }, { "idle_pct", 0 },
	{ "compute_ns", 0 }, { "compute_pct", 0 }, { "comm_ns", 0 }, { "comm_exposed_ns", 0 }, { "memcpy_ns", 0 },
	{ "memset_ns", 0 },
};

static void put_temporal(struct table *t, int64_t rank, const struct time_figures *f)
{
	table_row(t, (struct cell[]){ NUMBER(rank), known(f->span), known(f->busy), job_pct(f->busy, f->span), known(f->idle),
				      job_pct(f->idle, f->span), known(f->compute), job_pct(f->compute, f->span), known(f->comm),
				      known(f->exposed), known(f->memcpy), known(f->memset) });
}

/* Notes how span_ns is defined. */
static void note_span(struct table *t, struct model *m)
{
	size_t n, selected = 0;
	const struct window *w = model_windows(m, &n);

	for (size_t i = 0; w && i < n; i++)
		selected += w[i].selected;
	if (model_steps_selected(m))
		table_note(t, "span_ns is the time of the selected steps on the host, as far as they were recorded");
	else if (selected > 1)
		table_note(t, "span_ns is the recorded time, in %zu windows: of each from its first to its last GPU row", selected);
	else
		table_note(t, "span_ns is from the first to the last GPU row%s", selected ? " of the recorded window" : "");
}

static void end_temporal(struct table *t, const struct job *j, const struct time_figures *sum)
{
	int64_t busy = sum->span > 0 ? share((unsigned __int128)sum->busy, (unsigned __int128)sum->span) : -1;

	if (j->n > 1 && busy >= 0)
		table_note(t, "all %zu ranks: busy %d.%d %% of their spans", j->n, (int)(busy / 10), (int)(busy % 10));
	note_span(t, j->list[0].m);
	table_note(t, "percentages are shares of span_ns; compute, communication and copies may overlap");
}

static int temporal(struct model *m, struct table *t, const struct report_choice *choice)
{
	return each_rank(m, t, choice, put_temporal, end_temporal);
}

const struct report report_temporal = {
	.name = "temporal",
	.share = "",
	.title = "GPU Time by Rank: Busy, Idle, Compute, Communication",
	.help = "How much of the time is the GPU busy, idle, computing, communicating or copying, by rank?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(temporal_columns),
	.run_chosen = temporal,
};

/* ---- overlap ---- */

static const struct heading overlap_columns[] = {
	{ "rank", COLUMN_ID }, { "comm_ns", 0 }, { "overlap_ns", 0 }, { "overlap_pct", 0 }, { "comm_exposed_ns", 0 },
};

static void put_overlap(struct table *t, int64_t rank, const struct time_figures *f)
{
	table_row(t, (struct cell[]){ NUMBER(rank), known(f->comm), known(f->overlap), job_pct(f->overlap, f->comm),
				      known(f->exposed) });
}

static void end_overlap(struct table *t, const struct job *j, const struct time_figures *sum)
{
	int64_t part = sum->comm > 0 ? share((unsigned __int128)sum->overlap, (unsigned __int128)sum->comm) : -1;

	if (!sum->comm)
		table_note(t, "no communication kernels ran");
	else if (j->n > 1 && part >= 0)
		table_note(t, "all %zu ranks: %d.%d %% of communication ran while a compute kernel ran", j->n, (int)(part / 10),
			   (int)(part % 10));
}

static int overlap(struct model *m, struct table *t, const struct report_choice *choice)
{
	return each_rank(m, t, choice, put_overlap, end_overlap);
}

const struct report report_overlap = {
	.name = "overlap",
	.share = "overlap_pct: share of the rank's communication time",
	.title = "Communication/Compute Overlap by Rank",
	.help = "How much of the communication of each rank overlaps with compute kernels?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(overlap_columns),
	.run_chosen = overlap,
};

/* ---- kernel types ---- */

#define TYPES 4u
#define MASKS (1u << TYPES)
#define MEMORY 2u

static const char *const type_words[TYPES] = { "compute", "communication", "memory", "whole graph" };

static const struct heading type_columns[] = { { "kernel_type", COLUMN_TEXT }, { "time_ns", 0 }, { "time_pct", 0 } };

/* The GPU span of a rank, split by the set of types that run; bit i of the index is type i. */
struct time_parts {
	struct spans of[MASKS];
};

/* Splits each part into the time in which `type` runs and the rest.  times: when it runs.  Returns 0, or -1 when out of memory. */
static int split(struct time_parts *p, unsigned type, const struct spans *times)
{
	for (unsigned mask = 0; mask < 1u << type; mask++) {
		struct spans rest = { 0 };

		if (spans_intersect(&p->of[mask], times, &p->of[mask | 1u << type]) < 0 ||
		    spans_subtract(&p->of[mask], times, &rest) < 0) {
			spans_release(&rest);
			return -1;
		}
		spans_release(&p->of[mask]);
		p->of[mask] = rest;
	}
	return 0;
}

static int add_types(struct job_times *g, bool memory, int64_t times[MASKS])
{
	struct time_parts p = { { { 0 } } };
	const struct spans *of[TYPES] = { &g->of[GPU_COMPUTE], &g->of[GPU_COMM], &g->of[GPU_COPIES], &g->of[GPU_GRAPHS] };
	int rc = 0;

	for (size_t i = 0; i < g->span.n; i++)
		spans_add(&p.of[0], g->span.list[i].time, g->span.list[i].end);
	if (p.of[0].oom || spans_merge(&g->of[GPU_COPIES], &g->of[GPU_SETS]) < 0)
		rc = -1;
	for (unsigned type = 0; type < TYPES && rc == 0; type++)
		if (memory || type != MEMORY)
			rc = split(&p, type, of[type]);
	for (unsigned mask = 1; mask < MASKS && rc == 0; mask++)
		times[mask] = time_add(times[mask], spans_length(&p.of[mask]));
	for (unsigned mask = 0; mask < MASKS; mask++)
		spans_release(&p.of[mask]);
	return rc;
}

static const char *mask_words(struct table *t, unsigned mask)
{
	char text[96] = "";

	for (unsigned type = 0; type < TYPES; type++)
		if (mask & 1u << type) {
			if (*text)
				strcat(text, " overlapping ");
			strcat(text, type_words[type]);
		}
	return table_keep(t, "%s", text);
}

/* Prints one row per set of types, the longest first.  Clears times. */
static void put_types(struct table *t, int64_t times[MASKS])
{
	int64_t sum = 0;

	for (unsigned mask = 1; mask < MASKS; mask++)
		sum = time_add(sum, times[mask]);
	for (unsigned row = 1; row < MASKS; row++) {
		unsigned most = 1;

		for (unsigned mask = 2; mask < MASKS; mask++)
			if (times[mask] > times[most])
				most = mask;
		if (!times[most])
			break;
		table_row(t, (struct cell[]){ TEXT(mask_words(t, most)), NUMBER(times[most]), job_pct(times[most], sum) });
		times[most] = 0;
	}
}

static int types(struct model *m, struct table *t, const struct report_choice *choice, bool memory)
{
	int64_t times[MASKS] = { 0 };
	struct job j;
	int rc = job_begin(&j, m, choice);

	for (size_t i = 0; rc == 0 && i < j.n; i++) {
		struct job_times g;

		rc = job_gpu_times(&j.list[i], &g);
		if (rc == 0)
			rc = add_types(&g, memory, times);
		if (rc == 0 && !job_times_known(&g))
			job_note_no_gpu(t, &j.list[i], &g);
		job_times_release(&g);
	}
	if (rc == 0)
		put_types(t, times);
	if (rc == 0 && j.n > 1)
		table_note(t, "the times of all %zu ranks are added up", j.n);
	job_end(&j);
	return rc;
}

static int all_types(struct model *m, struct table *t, const struct report_choice *choice)
{
	return types(m, t, choice, true);
}

static int types_no_memory(struct model *m, struct table *t, const struct report_choice *choice)
{
	return types(m, t, choice, false);
}

const struct report report_kernel_types = {
	.name = "kernel_types",
	.share = "time_pct: share of the time in which GPU rows of any of these types ran",
	.title = "GPU Time by Kind of Row, All Ranks",
	.help = "How much GPU time is compute, communication, copies and memory sets, alone and overlapping?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(type_columns),
	.run_chosen = all_types,
};

const struct report report_kernel_types_no_memory = {
	.name = "kernel_types_no_memory",
	.share = "time_pct: share of the time in which GPU rows of any of these types ran",
	.title = "GPU Time by Kind of Kernel, All Ranks, Without Copies and Memory Sets",
	.help = "How much GPU time is compute and communication, without copies and memory sets?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(type_columns),
	.run_chosen = types_no_memory,
};
