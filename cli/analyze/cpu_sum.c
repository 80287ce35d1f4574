/* cpu_sum: where the CPU was, by function, as the samples have it. */
#include "cli/analyze/stack_sites.h"
#include "cli/analyze/stats.h"
#include "cli/model/model.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "function", COLUMN_TEXT }, { "file", COLUMN_TEXT }, { "line", COLUMN_ID }, { "self_samples", 0 },
	{ "total_samples", 0 }, { "self_pct", 0 }, { "total_pct", 0 },
};

struct counted {
	uint32_t function;
	uint64_t self, total;
	uint32_t seen;                  /* stack + 1 that it was last met in: recursion counts once */
};

struct work {
	uint64_t *of_stack;             /* samples */
	uint64_t all, without;
};

static int count(const struct stack_event *e, void *arg)
{
	struct work *w = arg;

	w->all++;
	if (e->stack == NO_STACK)
		w->without++;
	else
		w->of_stack[e->stack]++;
	return 0;
}

static void spread(const struct stacks *s, const struct work *w, struct counted *c)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t f = 0; w->of_stack[i] && f < s->list[i].n; f++) {
			struct counted *at = &c[s->places[s->frames[s->list[i].first + f]].function];

			at->self += f ? 0 : w->of_stack[i];
			at->total += at->seen == i + 1 ? 0 : w->of_stack[i];
			at->seen = i + 1;
		}
}

static int most_first(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void put(struct model *m, struct table *t, const struct stacks *s, const struct counted *c, uint64_t all)
{
	for (size_t i = 0; i < s->n_functions && c[i].total; i++) {
		const struct function *f = &s->functions[c[i].function];

		table_row(t, (const struct cell[]){
			TEXT(model_string(m, f->name)),
			f->file != STRING_NONE ? TEXT(file_short(m, f->file)) :
			f->image != STRING_NONE ? TEXT(model_string(m, f->image)) : UNKNOWN,
			f->line ? NUMBER(f->line) : UNKNOWN, NUMBER(c[i].self), NUMBER(c[i].total),
			FIXED(share(c[i].self, all), 1), FIXED(share(c[i].total, all), 1) });
	}
}

/* A function that was only called in other steps has no sample here: those go to the end. */
static int in_total(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return !x->total != !y->total ? (x->total ? -1 : 1) : most_first(a, b);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	const struct stacks *s = model_stacks(m);
	struct work w = { 0 };
	struct counted *c = NULL;
	int rc = -1;

	(void)variant;
	if (!s || !(w.of_stack = calloc(s->n + 1, sizeof *w.of_stack)) || !(c = calloc(s->n_functions + 1, sizeof *c)))
		goto out;
	rc = model_stack_events(m, EVENT_SAMPLE, count, &w);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < s->n_functions; i++)
		c[i].function = (uint32_t)i;
	spread(s, &w, c);
	qsort(c, s->n_functions, sizeof *c, in_total);
	put(m, t, s, c, w.all);
	if (w.all)
		table_note(t, "samples: %llu%s", (unsigned long long)w.all,
			   w.without ? "; a part has no stack and is in no row" : "");
	else
		note_samples(m, t);
	if (w.without)
		table_note(t, "samples without a stack: %llu", (unsigned long long)w.without);
out:
	free(w.of_stack);
	free(c);
	return rc;
}

const struct report report_cpu_sum = {
	.name = "cpu_sum",
	.title = "CPU Samples by Function",
	.help = "where the CPU was: samples by function, its own and with what it called",
	.adds = { ROW_sample },
	COLUMNS(columns),
	.run = run,
};
