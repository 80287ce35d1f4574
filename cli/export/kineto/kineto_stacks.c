/* Call stacks in a Kineto file: of calls as torch.profiler's "call stack" argument, of samples as its python_function slices. */
#include "cli/export/kineto/kineto.h"
#include "cli/export/kineto/kineto_pieces.h"
#include "cli/model/stacks/stacks.h"

#include <stdio.h>
#include <stdlib.h>

/* torch.profiler's format "file(line): function"; line is the line of the call in a stack, the function's first line in a slice. */
static void function_text(struct export *x, const struct function *f, uint32_t line, char *text, size_t size)
{
	if (f->python)
		snprintf(text, size, "%s(%u): %s", model_string(x->m, f->file), line, model_string(x->m, f->name));
	else
		snprintf(text, size, "%s", model_string(x->m, f->name));
}

void kineto_call_stack(struct export *x, uint32_t stack)
{
	const struct stacks *s = model_stacks(x->m);
	char frame[1024], *text = NULL;
	size_t n = 0;
	FILE *memory;

	if (!s || stack == NO_STACK || !s->list[stack].n)
		return;
	memory = open_memstream(&text, &n);
	for (uint32_t i = 0; memory && i < s->list[stack].n; i++) {
		const struct place *p = &s->places[s->frames[s->list[stack].first + i]];

		function_text(x, &s->functions[p->function], p->line, frame, sizeof frame);
		fprintf(memory, "%s%s", i ? ";" : "", frame);
	}
	if (!memory || fclose(memory) != 0) {
		x->oom = true;
	} else {
		out_lit(x->out, ", \"Call stack\": ");
		json_string_n(x->out, text, n);
	}
	free(text);
}

void kineto_frame(struct export *x, const struct frame_slice *s)
{
	const struct function *f = &model_stacks(x->m)->functions[s->function];
	const struct track *t = &x->tracks[s->track];
	char text[1024];

	kineto_next(x);
	if (f->python)
		out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": ");
	else
		out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"native_function\", \"name\": ");
	function_text(x, f, f->line, text, sizeof text);
	json_string(x->out, text);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_lit(x->out, ", \"args\": {");
	if (f->python) {
		out_format(x->out, "\"Python id\": %llu, \"Python parent id\": ", (unsigned long long)s->id);
		if (s->parent)
			out_u64(x->out, s->parent);
		else
			out_lit(x->out, "null");
		out_format(x->out, ", \"Python thread\": %u", t->sampled);
	} else if (f->image != STRING_NONE) {
		out_lit(x->out, "\"module\": ");
		json_string(x->out, model_string(x->m, f->image));
	}
	out_lit(x->out, "}}");
}
