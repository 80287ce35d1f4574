/* cpu_sum: CPU samples by function. */
#include "cli/report/stacks/cpu_sum.h"

#include "cli/model/model.h"
#include "cli/report/parts/stats.h"
#include "cli/report/stacks/stack_sites.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "function", COLUMN_TEXT | COLUMN_KEY }, { "file", COLUMN_TEXT | COLUMN_PATH }, { "line", COLUMN_ID }, { "self_samples", 0 },
	{ "total_samples", 0 }, { "self_pct", COLUMN_KEY }, { "total_pct", COLUMN_KEY },
};

struct sample_counts {
	uint64_t *of_stack;             /* number of samples, by stack */
	uint64_t all, without;
};

static int count(const struct stack_event *e, void *arg)
{
	struct sample_counts *w = arg;

	w->all++;
	if (e->stack == NO_STACK)
		w->without++;
	else
		w->of_stack[e->stack]++;
	return 0;
}

static void spread(const struct stacks *s, const struct sample_counts *w, struct cpu_function *c)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t f = 0; w->of_stack[i] && f < s->list[i].n; f++) {
			struct cpu_function *at = &c[s->places[s->frames[s->list[i].first + f]].function];

			at->self += f ? 0 : w->of_stack[i];
			at->total += at->seen == i + 1 ? 0 : w->of_stack[i];
			at->seen = i + 1;
		}
}

static int most_first(const void *a, const void *b)
{
	const struct cpu_function *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void put_functions(struct model *m, struct table *t, const struct stacks *s, const struct cpu_functions *of)
{
	const struct cpu_function *c = of->list;

	for (size_t i = 0; i < of->n; i++) {
		const struct function *f = &s->functions[c[i].function];

		table_row(t, (const struct cell[]){
			TEXT(model_string(m, f->name)),
			f->file != STRING_NONE ? TEXT(file_short(m, f->file)) :
			f->image != STRING_NONE ? TEXT(model_string(m, f->image)) : UNKNOWN,
			f->line ? NUMBER(f->line) : UNKNOWN, NUMBER(c[i].self), NUMBER(c[i].total),
			FIXED(share(c[i].self, of->samples), 1), FIXED(share(c[i].total, of->samples), 1) });
	}
}

/* Functions without a sample in the selected part of the trace come last. */
static int in_total(const void *a, const void *b)
{
	const struct cpu_function *x = a, *y = b;

	return !x->total != !y->total ? (x->total ? -1 : 1) : most_first(a, b);
}

int cpu_functions(struct model *m, struct cpu_functions *out)
{
	const struct stacks *s = model_stacks(m);
	struct sample_counts w = { 0 };
	int rc = -1;

	*out = (struct cpu_functions){ 0 };
	if (!s || !(w.of_stack = calloc(s->n + 1, sizeof *w.of_stack)) || !(out->list = calloc(s->n_functions + 1, sizeof *out->list)))
		goto out;
	rc = model_stack_events(m, EVENT_SAMPLE, count, &w);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < s->n_functions; i++)
		out->list[i].function = (uint32_t)i;
	spread(s, &w, out->list);
	qsort(out->list, s->n_functions, sizeof *out->list, in_total);
	out->samples = w.all;
	out->without = w.without;
	while (out->n < s->n_functions && out->list[out->n].total)
		out->n++;
out:
	free(w.of_stack);
	return rc;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct cpu_functions f;
	int rc = cpu_functions(m, &f);

	(void)variant;
	if (rc == 0) {
		put_functions(m, t, model_stacks(m), &f);
		if (f.samples)
			table_note(t, "samples: %llu%s", (unsigned long long)f.samples,
				   f.without ? "; some have no stack and are in no row" : "");
		else
			note_samples(m, t);
		if (f.without)
			table_note(t, "samples without a stack: %llu", (unsigned long long)f.without);
	}
	free(f.list);
	return rc;
}

const struct report report_cpu_sum = {
	.name = "cpu_sum",
	.share = "self_pct, total_pct: share of all samples",
	.title = "CPU Samples by Function",
	.help = "In which functions is CPU time spent: self and total samples?",
	.needs = NEED_SAMPLES,
	.adds = { ROW_sample },
	COLUMNS(columns),
	.run = run,
};
