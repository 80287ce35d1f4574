/* lines: what each line of the program cost, beside its text, as line profilers print it. */
#include "cli/analyze/choice.h"
#include "cli/analyze/stack_sites.h"
#include "cli/model/model.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const struct heading columns[] = {
	{ "file", COLUMN_TEXT }, { "line", COLUMN_ID }, { "python_samples", 0 }, { "native_samples", 0 },
	{ "gpu_ns", 0 }, { "launches", 0 }, { "bytes", 0 }, { "blocked_ns", 0 }, { "source", COLUMN_TEXT },
};

struct work {
	struct model *m;
	const struct report_choice *choice;
	const struct stacks *stacks;
	struct sites sites;             /* by file << 32 | line */
	uint64_t calls_without, samples_without;
};

static bool file_fits(struct work *w, uint32_t file)
{
	const char *pattern = w->choice->file, *path = model_string(w->m, file), *slash = strrchr(path, '/');

	return !pattern || fnmatch(pattern, path, 0) == 0 || fnmatch(pattern, file_short(w->m, file), 0) == 0 ||
	       (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

static bool function_fits(struct work *w, uint32_t function)
{
	return !w->choice->function ||
	       fnmatch(w->choice->function, model_string(w->m, w->stacks->functions[function].name), 0) == 0;
}

static int add(const struct stack_event *e, void *arg)
{
	struct work *w = arg;
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
		s->bytes += e->bytes;   /* its GPU time is no kernel's */
	else
		site_add(w->m, s, e);
	return 0;
}

static int by_line(const void *a, const void *b, void *arg)
{
	const struct site *x = a, *y = b;
	struct model *m = arg;

	if (x->key >> 32 != y->key >> 32)
		return strcmp(model_string(m, (uint32_t)(x->key >> 32)), model_string(m, (uint32_t)(y->key >> 32)));
	return (x->key > y->key) - (x->key < y->key);
}

static void put(struct work *w, struct table *t)
{
	bool calls = model_has_call_stacks(w->m), samples = model_has_samples(w->m);

	if (w->sites.n)
		qsort_r(w->sites.list, w->sites.n, sizeof *w->sites.list, by_line, w->m);
	for (size_t i = 0; i < w->sites.n; i++) {
		const struct site *s = &w->sites.list[i];
		uint32_t file = (uint32_t)(s->key >> 32), line = (uint32_t)s->key;
		size_t n = 0;
		const char *source = model_source_line(w->m, file, line, &n);

		if (n && source[n - 1] == '\r')
			n--;
		table_row(t, (const struct cell[]){
			TEXT(file_short(w->m, file)), NUMBER(line), samples ? NUMBER(s->python_samples) : UNKNOWN,
			samples ? NUMBER(s->native_samples) : UNKNOWN, calls ? NUMBER(s->gpu_ns) : UNKNOWN,
			calls ? NUMBER(s->launches) : UNKNOWN, calls ? NUMBER(s->bytes) : UNKNOWN,
			calls ? NUMBER(s->call_ns) : UNKNOWN,
			source ? TEXT(table_keep(t, "%.*s", (int)(n > 4096 ? 4096 : n), source)) : UNKNOWN });
	}
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct work w = { .m = m, .choice = choice, .stacks = model_stacks(m) };
	int rc = w.stacks ? model_stack_events(m, EVENT_CALL | EVENT_KERNEL | EVENT_COPY | EVENT_SAMPLE, add, &w) : -1;

	if (rc == 0) {
		put(&w, t);
		note_stacks(m, t, w.calls_without, "calls that have no line, or are");
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
	.title = "Lines of the Program",
	.help = "what each line cost, beside its text: samples, GPU time, launches, bytes copied, time in CUDA calls",
	.adds = { ROW_api, ROW_sample },
	COLUMNS(columns),
	.run_chosen = run,
};
