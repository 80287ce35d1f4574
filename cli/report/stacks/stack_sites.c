#include "cli/report/stacks/stack_sites.h"

#include "cli/model/join.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/why.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACE_TEXT 1024u

struct site *sites_get(struct sites *s, uint64_t key)
{
	bool new;
	uint32_t *at = map_put(&s->index, key, (uint32_t)s->n, &new);

	if (!at)
		return NULL;
	if (!new)
		return &s->list[*at - 1];
	if (!GROW(s->list, s->n + 1, s->cap))
		return NULL;
	s->list[s->n] = (struct site){ .key = key };
	return &s->list[s->n++];
}

void sites_release(struct sites *s)
{
	map_release(&s->index);
	free(s->list);
}

bool sample_is_python(struct model *m, uint32_t stack)
{
	const struct stacks *s = model_stacks(m);
	const struct call_stack *c = &s->list[stack];

	return c->n && s->functions[s->places[s->frames[c->first]].function].python;
}

void site_add(struct model *m, struct site *at, const struct stack_event *e)
{
	int64_t ns = e->ns > 0 ? e->ns : 0;

	switch (e->kind) {
	case EVENT_CALL:
		at->calls++;
		at->call_ns = time_add(at->call_ns, ns);
		if (ns > at->longest_ns)
			at->longest_ns = ns;
		return;
	case EVENT_RANGE:
		at->ranges++;
		at->range_ns = time_add(at->range_ns, ns);
		if (ns > at->longest_ns)
			at->longest_ns = ns;
		return;
	case EVENT_SAMPLE:
		if (e->stack != NO_STACK && sample_is_python(m, e->stack))
			at->python_samples++;
		else
			at->native_samples++;
		return;
	case EVENT_KERNEL:
		at->kernels += !e->whole_graph;
		at->launches += e->first;
		at->uncalled += e->call == NO_ROW;
		break;
	case EVENT_COPY:
		at->bytes += e->bytes;
		break;
	default:
		break;
	}
	at->gpu_ns = time_add(at->gpu_ns, ns);
	at->untimed += e->ns < 0;
}

/* ---- text ---- */

int stack_text_begin(struct stack_text *t, struct model *m)
{
	const struct stacks *s = model_stacks(m);

	*t = (struct stack_text){ .m = m };
	if (!s)
		return -1;
	t->size = (stacks_deepest(s) + 1) * PLACE_TEXT;
	t->frames = malloc((stacks_deepest(s) + 1) * sizeof *t->frames);
	t->text = malloc(t->size);
	return t->frames && t->text ? 0 : -1;
}

const char *stack_text(struct stack_text *t, uint32_t stack, enum stack_view view, size_t most)
{
	const struct stacks *s = model_stacks(t->m);
	size_t n = stack_frames(t->m, stack, view, most ? most : SIZE_MAX, t->frames), at = 0;

	t->text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		char text[PLACE_TEXT - 8];

		place_text(t->m, &s->places[t->frames[i]], text, sizeof text);
		at += (size_t)snprintf(t->text + at, t->size - at, "%s%s", i ? " <- " : "", text);
	}
	return t->text;
}

void stack_text_end(struct stack_text *t)
{
	free(t->frames);
	free(t->text);
}

/* ---- samples ---- */

double samples_per_second(struct model *m)
{
	double hz = 0;
	uint32_t n;
	const struct process *processes = model_processes(m, &n);

	for (uint32_t i = 0; i < n; i++) {
		const char *text = process_attribute(&processes[i], "sampling.hz");
		double its = text ? strtod(text, NULL) : 0;

		if (!process_attribute(&processes[i], "sampling") && !model_process_rows(m, ROW_sample, i))
			continue;
		if (!(its > 0 && its < 1e9) || (hz > 0 && its != hz))
			return 0;
		hz = its;
	}
	return hz;
}

int64_t samples_ns(uint64_t samples, double hz)
{
	return (int64_t)((double)samples * 1e9 / hz + 0.5);
}

/* ---- notes ---- */

void note_stacks(struct model *m, struct table *t, uint64_t without, const char *of_what)
{
	if (!model_has_call_stacks(m))
		table_note(t, "no CUDA call has a stack: %s",
			   why_lacks(m, "gprof-run --cudabacktrace=all or --python-launch-site records them", NULL));
	else if (without)
		table_note(t, "%s without a stack: %llu", of_what, (unsigned long long)without);
}

void note_samples(struct model *m, struct table *t)
{
	if (!model_has_samples(m))
		table_note(t, "no CPU samples: %s", why_lacks(m, "gprof-run -s cpu records them", NULL));
	else if (!model_rows(m, ROW_sample))
		table_note(t, "no CPU samples in the selected part");
}
