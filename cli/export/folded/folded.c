/*
 * Folded stacks: one line per stack, "outermost;...;innermost weight", for flamegraph.pl, inferno and speedscope.  After the stack's frames
 * come the CUDA call and its GPU work, so the leaves of a flame graph of GPU time are kernels.  Events without a stack are below a frame
 * "(stack not recorded)", so that the total is complete.
 */
#include "cli/export/stack_weights.h"
#include "cli/model/process.h"

#include <stdio.h>
#include <stdlib.h>

#define FRAME 1024u

/* Writes a frame; ';', which separates frames, becomes ':', and control characters become '_'. */
static void put_frame(struct out *o, const char *text, bool first)
{
	if (!first)
		out_char(o, ';');
	for (; *text; text++)
		out_char(o, *text == ';' ? ':' : (unsigned char)*text < ' ' || *text == 0x7f ? '_' : *text);
}

static void put_line(struct export *x, const struct stack_weight *w, bool several, uint32_t *frames)
{
	const struct stacks *s = model_stacks(x->m);
	size_t n = stack_frames(x->m, w->stack, VIEW_MIXED, SIZE_MAX, frames);
	char text[FRAME], name[64];
	bool first = true;

	if (several) {
		uint32_t processes;
		const struct process *p = model_processes(x->m, &processes);

		snprintf(text, sizeof text, "%.200s %u", process_name(&p[w->process], name, sizeof name), p[w->process].pid);
		put_frame(x->out, text, true);
		first = false;
	}
	if (!n) {
		put_frame(x->out, "(stack not recorded)", first);
		first = false;
	}
	for (size_t i = n; i-- > 0; first = false) {
		place_text(x->m, &s->places[frames[i]], text, sizeof text);
		put_frame(x->out, text, first);
	}
	if (w->call != STRING_NONE)
		put_frame(x->out, model_string(x->m, w->call), false);
	if (w->leaf != STRING_NONE)
		put_frame(x->out, model_string(x->m, w->leaf), false);
	out_char(x->out, ' ');
	out_i64(x->out, w->values[x->metric]);
	out_char(x->out, '\n');
	x->events++;
}

static int sum(struct export *x)
{
	struct stack_weights w;
	uint32_t *frames = NULL, process = 0;
	bool several = false;
	int rc = stack_weights_make(&w, x);

	if (rc == 0 && !(frames = malloc((stacks_deepest(model_stacks(x->m)) + 1) * sizeof *frames)))
		rc = -1;
	for (size_t i = 0; i < w.n; i++)
		if (w.list[i].values[x->metric] > 0) {
			several |= process && process != w.list[i].process;
			process = w.list[i].process;
		}
	for (size_t i = 0; rc == 0 && i < w.n; i++)
		if (w.list[i].values[x->metric] > 0)
			put_line(x, &w.list[i], several, frames);
	free(frames);
	stack_weights_release(&w);
	return rc;
}

const struct exporter export_folded = {
	.name = "folded",
	.suffix = ".folded",
	.help = "lines for flame graphs: flamegraph.pl, inferno, speedscope",
	.sum = sum,
};
