/* lines: cost of each source line of the program, next to the text of the line. */
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/report/parts/choice.h"
#include "cli/report/parts/stats.h"
#include "cli/report/stacks/stack_sites.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const struct heading columns[] = {
	{ "file", COLUMN_TEXT | COLUMN_KEY | COLUMN_PATH }, { "line", COLUMN_ID | COLUMN_KEY }, { "gpu_pct", COLUMN_SPARSE },
	{ "gpu_ns", COLUMN_SPARSE | COLUMN_KEY }, { "samples_pct", COLUMN_SPARSE }, { "cpu_ns", COLUMN_SPARSE | COLUMN_KEY },
	{ "python_samples", COLUMN_SPARSE }, { "native_samples", COLUMN_SPARSE }, { "launches", COLUMN_SPARSE }, { "bytes", COLUMN_SPARSE }, { "blocked_ns", COLUMN_SPARSE },
	{ "source", COLUMN_TEXT | COLUMN_PLAIN },
};

struct lines_report {
	struct model *m;
	const struct report_choice *choice;
	const struct stacks *stacks;
	struct sites sites;             /* key: file << 32 | line */
	uint64_t calls_without, samples_without;        /* number of calls and samples without a line */
	int64_t gpu_ns;                 /* of all lines in the table */
	uint64_t samples;               /* of all lines in the table */
	double hz;                      /* samples per second of CPU time; 0: not known */
};

static bool file_fits(struct lines_report *w, uint32_t file)
{
	const char *pattern = w->choice->file, *path = model_string(w->m, file), *slash = strrchr(path, '/');

	return !pattern || fnmatch(pattern, path, 0) == 0 || fnmatch(pattern, file_short(w->m, file), 0) == 0 ||
	       (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

static bool function_fits(struct lines_report *w, uint32_t function)
{
	return !w->choice->function ||
	       fnmatch(w->choice->function, model_string(w->m, w->stacks->functions[function].name), 0) == 0;
}

static int add_event(const struct stack_event *e, void *arg)
{
	struct lines_report *w = arg;
	uint32_t at = stack_site(w->m, e->stack);
	const struct place *p = at == NO_PLACE ? NULL : &w->stacks->places[at];
	struct site *s;

	if (!p || p->file == STRING_NONE || !p->line) {
		w->calls_without += e->kind == EVENT_CALL;
		w->samples_without += e->kind == EVENT_SAMPLE;
		return 0;
	}
	if (!file_fits(w, p->file) || !function_fits(w, p->function))
		return 0;
	s = sites_get(&w->sites, (uint64_t)p->file << 32 | p->line);
	if (!s)
		return -1;
	if (e->kind == EVENT_COPY)
		s->bytes += e->bytes;   /* gpu_ns is the time of kernels only */
	else
		site_add(w->m, s, e);
	return 0;
}

static uint64_t samples_of(const struct site *s)
{
	return s->python_samples + s->native_samples;
}

static int more_first(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y);
}

/* Files of the program first; then by GPU time, samples, bytes and time in CUDA calls, each descending. */
static int by_cost(const void *a, const void *b, void *arg)
{
	const struct site *x = a, *y = b;
	const char *files[2] = { model_string(arg, (uint32_t)(x->key >> 32)), model_string(arg, (uint32_t)(y->key >> 32)) };
	int c = more_first(file_is_users(files[0]), file_is_users(files[1]));

	c = c ? c : more_first((uint64_t)x->gpu_ns, (uint64_t)y->gpu_ns);
	c = c ? c : more_first(samples_of(x), samples_of(y));
	c = c ? c : more_first(x->bytes, y->bytes);
	c = c ? c : more_first((uint64_t)x->call_ns, (uint64_t)y->call_ns);
	c = c ? c : strcmp(files[0], files[1]);
	return c ? c : more_first(y->key, x->key);
}

static void put_lines(struct lines_report *w, struct table *t)
{
	bool calls = model_has_call_stacks(w->m), samples = model_has_samples(w->m);

	if (w->sites.n)
		qsort_r(w->sites.list, w->sites.n, sizeof *w->sites.list, by_cost, w->m);
	for (size_t i = 0; i < w->sites.n; i++) {
		w->gpu_ns = time_add(w->gpu_ns, w->sites.list[i].gpu_ns);
		w->samples += samples_of(&w->sites.list[i]);
	}
	for (size_t i = 0; i < w->sites.n; i++) {
		const struct site *s = &w->sites.list[i];
		uint32_t file = (uint32_t)(s->key >> 32), line = (uint32_t)s->key;
		size_t n = 0;
		const char *source = model_source_line(w->m, file, line, &n);

		if (n && source[n - 1] == '\r')
			n--;
		table_row(t, (const struct cell[]){
			TEXT(file_short(w->m, file)), NUMBER(line),
			calls ? FIXED(share((uint64_t)s->gpu_ns, (uint64_t)w->gpu_ns), 1) : UNKNOWN, calls ? NUMBER(s->gpu_ns) : UNKNOWN,
			samples ? FIXED(share(samples_of(s), w->samples), 1) : UNKNOWN,
			samples && w->hz > 0 ? NUMBER(samples_ns(samples_of(s), w->hz)) : UNKNOWN,
			samples ? NUMBER(s->python_samples) : UNKNOWN, samples ? NUMBER(s->native_samples) : UNKNOWN,
			calls ? NUMBER(s->launches) : UNKNOWN, calls ? NUMBER(s->bytes) : UNKNOWN,
			calls ? NUMBER(s->call_ns) : UNKNOWN,
			source ? TEXT(table_keep(t, "%.*s", (int)(n > 4096 ? 4096 : n), source)) : UNKNOWN });
	}
}

static void note_shares(const struct lines_report *w, struct table *t)
{
	char gpu[32];

	text_time(gpu, w->gpu_ns);
	if (w->sites.n && model_has_call_stacks(w->m))
		table_note(t, "gpu_pct: share of %s, the GPU time of all kernels and graphs with a line", gpu);
	if (!w->sites.n || !model_has_samples(w->m))
		return;
	table_note(t, "samples_pct: share of the %llu samples with a line", (unsigned long long)w->samples);
	if (w->hz > 0)
		table_note(t, "cpu: CPU time of the samples; one sample is %.4g ms (%.4g a second)", 1000 / w->hz, w->hz);
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct lines_report w = { .m = m, .choice = choice, .stacks = model_stacks(m), .hz = samples_per_second(m) };
	int rc = w.stacks ? model_stack_events(m, EVENT_CALL | EVENT_KERNEL | EVENT_COPY | EVENT_SAMPLE, add_event, &w) : -1;

	if (rc == 0) {
		put_lines(&w, t);
		note_shares(&w, t);
		note_stacks(m, t, w.calls_without, "CUDA calls without a line or");
		note_samples(m, t);
		if (w.samples_without)
			table_note(t, "samples without a line: %llu", (unsigned long long)w.samples_without);
		if (t->n_rows && !model_rows(m, ROW_source))
			table_note(t, "the trace has no source text");
	}
	sites_release(&w.sites);
	return rc;
}

const struct report report_lines = {
	.name = "lines",
	.share = "",
	.title = "Source Lines, the Program's Own Files First",
	.help = "What does each line of the program cost: samples, GPU time, launches, bytes copied?",
	.needs = NEED_STACKS,
	.adds = { ROW_api, ROW_sample },
	COLUMNS(columns),
	.run_chosen = run,
};
