/* stacks: cost of each call stack on the host and on the GPU, and the NVTX ranges that were started on it. */
#include "cli/model/model.h"
#include "cli/report/parts/choice.h"
#include "cli/report/stacks/stack_sites.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "gpu_ns", 0 }, { "call_ns", 0 }, { "calls", 0 }, { "kernels", 0 }, { "bytes", 0 }, { "samples", 0 },
	{ "ranges", 0 }, { "range_ns", 0 },
	{ "stack", COLUMN_TEXT | COLUMN_BELOW | COLUMN_LINES },
};

struct stacks_report {
	struct model *m;
	const struct report_choice *choice;
	struct stack_text text;
	struct sites sites;             /* key: string id of the stack's text */
	uint32_t *text_of;              /* by stack: string id of its text; MAP_NONE: not made yet */
	uint64_t without;               /* number of calls without a stack */
};

static int add_event(const struct stack_event *e, void *arg)
{
	struct stacks_report *w = arg;
	struct site *at;
	uint32_t *id;

	if (e->stack == NO_STACK) {
		w->without += e->kind == EVENT_CALL;
		return 0;
	}
	id = &w->text_of[e->stack];
	if (*id == MAP_NONE)
		*id = model_intern(w->m, stack_text(&w->text, e->stack, w->choice->by, w->choice->group));
	at = *id == MAP_NONE ? NULL : sites_get(&w->sites, *id);
	if (!at)
		return -1;
	site_add(w->m, at, e);
	return 0;
}

static int dearest_first(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	uint64_t xs = x->python_samples + x->native_samples, ys = y->python_samples + y->native_samples;

	if (x->gpu_ns != y->gpu_ns)
		return x->gpu_ns > y->gpu_ns ? -1 : 1;
	if (x->call_ns != y->call_ns)
		return x->call_ns > y->call_ns ? -1 : 1;
	if (xs != ys)
		return xs > ys ? -1 : 1;
	if (x->range_ns != y->range_ns)
		return x->range_ns > y->range_ns ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void put_stacks(struct stacks_report *w, struct table *t)
{
	bool calls = model_has_call_stacks(w->m), samples = model_has_samples(w->m), ranges = model_has_range_stacks(w->m);

	if (w->sites.n)
		qsort(w->sites.list, w->sites.n, sizeof *w->sites.list, dearest_first);
	for (size_t i = 0; i < w->sites.n; i++) {
		const struct site *s = &w->sites.list[i];
		const char *text = model_string(w->m, (uint32_t)s->key);

		table_row(t, (const struct cell[]){
			calls ? NUMBER(s->gpu_ns) : UNKNOWN, calls ? NUMBER(s->call_ns) : UNKNOWN,
			calls ? NUMBER(s->calls) : UNKNOWN, calls ? NUMBER(s->kernels) : UNKNOWN,
			calls ? NUMBER(s->bytes) : UNKNOWN,
			samples ? NUMBER(s->python_samples + s->native_samples) : UNKNOWN,
			ranges ? NUMBER(s->ranges) : UNKNOWN, ranges ? NUMBER(s->range_ns) : UNKNOWN,
			TEXT(*text ? text : "(none of these frames)") });
	}
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	const struct stacks *s = model_stacks(m);
	struct stacks_report w = { .m = m, .choice = choice };
	int rc = s ? stack_text_begin(&w.text, m) : -1;

	if (rc == 0 && !(w.text_of = malloc((s->n + 1) * sizeof *w.text_of)))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		w.text_of[i] = MAP_NONE;
	if (rc == 0)
		rc = model_stack_events(m, EVENT_CALL | EVENT_GPU | EVENT_SAMPLE | EVENT_RANGE, add_event, &w);
	if (rc == 0) {
		put_stacks(&w, t);
		if (!t->n_rows || w.without)
			note_stacks(m, t, w.without, "calls");
		if (!t->n_rows)
			note_samples(m, t);
	}
	free(w.text_of);
	stack_text_end(&w.text);
	sites_release(&w.sites);
	return rc;
}

const struct report report_stacks = {
	.name = "stacks",
	.title = "Call Stacks",
	.help = "What does each call stack cost: GPU time, CUDA calls, samples, NVTX ranges? (--by, --group-by-stack)",
	.needs = NEED_STACKS,
	.adds = { ROW_api, ROW_sample },
	COLUMNS(columns),
	.run_chosen = run,
};
