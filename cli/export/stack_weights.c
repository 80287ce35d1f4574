#include "cli/export/stack_weights.h"

#include "cli/model/join.h"
#include "cli/model/names.h"
#include "cli/model/sort.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>

static struct stack_weight *weight_of(struct stack_weights *w, const struct stack_event *e, uint32_t call, uint32_t leaf)
{
	/* Stack ids include the process; events without a stack are summed by process. */
	uint32_t stack = e->stack == NO_STACK ? 0x80000000u | e->process : e->stack;
	bool new;
	uint32_t *at = map_put(&w->pairs, (uint64_t)stack << 32 | call, (uint32_t)w->pairs.n, &new);

	at = at ? map_put(&w->index, (uint64_t)(*at - 1) << 32 | leaf, (uint32_t)w->n, &new) : NULL;
	if (!at)
		return NULL;
	if (!new)
		return &w->list[*at - 1];
	if (!GROW(w->list, w->n + 1, w->cap))
		return NULL;
	w->list[w->n] = (struct stack_weight){ .process = e->process, .stack = e->stack, .call = call, .leaf = leaf };
	return &w->list[w->n++];
}

/* Name of the GPU work, written as a frame below the call. */
static uint32_t leaf_of(struct model *m, const struct stack_event *e)
{
	const char *kind = e->kind == EVENT_COPY ? memcpy_short(e->copy_kind) : NULL;
	char text[40];

	if (e->kind == EVENT_KERNEL && !e->whole_graph)
		return model_name(m, e->name, NAME_PLAIN);
	snprintf(text, sizeof text, "%s%s%s", e->kind == EVENT_COPY ? "Memcpy" : e->kind == EVENT_SET ? "Memset" : "CUDA graph",
		 kind ? " " : "", kind ? kind : "");
	return model_intern(m, text);
}

static int add_event(const struct stack_event *e, void *arg)
{
	struct stack_weights *w = arg;
	const uint32_t *names = MODEL_U32(w->m, api, name);
	uint32_t call = STRING_NONE, leaf = STRING_NONE;
	struct stack_weight *at;

	if (w->takes && !w->takes[e->process])
		return 0;
	if (!names)
		return -1;
	if (e->call != NO_ROW)
		call = model_name(w->m, names[e->call], NAME_API_PLAIN);
	if (e->kind & EVENT_GPU)
		leaf = leaf_of(w->m, e);
	else if (e->kind == EVENT_RANGE)
		leaf = e->name;
	at = leaf == MAP_NONE ? NULL : weight_of(w, e, call, leaf);
	if (!at)
		return -1;
	if (e->kind & EVENT_GPU)
		at->values[METRIC_GPU_TIME] = time_add(at->values[METRIC_GPU_TIME], e->ns > 0 ? e->ns : 0);
	if (e->kind == EVENT_COPY)
		at->values[METRIC_BYTES] = time_add(at->values[METRIC_BYTES], e->bytes > INT64_MAX ? 0 : (int64_t)e->bytes);
	if (e->kind == EVENT_CALL) {
		at->values[METRIC_API_TIME] = time_add(at->values[METRIC_API_TIME], e->ns > 0 ? e->ns : 0);
		at->values[METRIC_COUNT]++;
	}
	if (e->kind == EVENT_RANGE)
		at->values[METRIC_RANGE_TIME] = time_add(at->values[METRIC_RANGE_TIME], e->ns > 0 ? e->ns : 0);
	at->values[METRIC_CPU_SAMPLES] += e->kind == EVENT_SAMPLE;
	return 0;
}

int stack_weights_make(struct stack_weights *w, struct export *x)
{
	*w = (struct stack_weights){ .m = x->m, .takes = x->takes };
	return model_stack_events(x->m, EVENT_CALL | EVENT_GPU | EVENT_SAMPLE | EVENT_RANGE, add_event, w);
}

void stack_weights_release(struct stack_weights *w)
{
	map_release(&w->pairs);
	map_release(&w->index);
	free(w->list);
}
