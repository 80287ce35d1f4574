/* Events with stacks: calls, GPU rows that calls launched, samples, ranges. */
#include "cli/model/stacks/stacks_inside.h"

#include "cli/model/gpu/gpu.h"
#include "cli/model/join.h"
#include "cli/model/process.h"

struct event_walk {
	struct model *m;
	int (*fn)(const struct stack_event *e, void *arg);
	void *arg;
	const uint32_t *stack;          /* of calls */
	uint8_t *used;                  /* by call: EVENT_ bits of the GPU rows met so far */
};

static int walk_calls(struct event_walk *w)
{
	struct model *m = w->m;
	const int64_t *start = MODEL_I64(m, api, start), *duration = MODEL_I64(m, api, duration);
	const uint32_t *name = MODEL_U32(m, api, name), *process = model_row_process(m, ROW_api);

	if (!start || !duration || !name || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_api); i < n; i++) {
		const struct stack_event e = {
			.kind = EVENT_CALL, .process = process[i], .stack = model_stack(m, process[i], w->stack[i]),
			.row = i, .call = i, .name = name[i], .start = start[i], .ns = duration[i],
		};

		if (w->fn(&e, w->arg) < 0)
			return -1;
	}
	return 0;
}

struct gpu_kind {
	unsigned kind, record, start, duration, corr;
	int name, bytes, copy_kind;     /* columns; -1: none */
};

static int walk_gpu(struct event_walk *w, const struct gpu_kind *k)
{
	struct model *m = w->m;
	const int64_t *start = model_column(m, k->record, k->start), *duration = model_column(m, k->record, k->duration);
	const uint32_t *corr = model_column(m, k->record, k->corr), *process = model_row_process(m, k->record),
		       *name = k->name < 0 ? NULL : model_column(m, k->record, (unsigned)k->name),
		       *copy = k->copy_kind < 0 ? NULL : model_column(m, k->record, (unsigned)k->copy_kind);
	const uint64_t *bytes = k->bytes < 0 ? NULL : model_column(m, k->record, (unsigned)k->bytes);

	if (!start || !duration || !corr || !process || (k->name >= 0 && !name) || (k->bytes >= 0 && !bytes) ||
	    (k->copy_kind >= 0 && !copy))
		return -1;
	for (size_t i = 0, n = model_rows(m, k->record); i < n; i++) {
		size_t call = model_api_of(m, process[i], corr[i]);
		struct stack_event e = {
			.kind = k->kind, .process = process[i], .row = i, .call = call,
			.stack = call == NO_ROW ? NO_STACK : model_stack(m, process[i], w->stack[call]),
			.name = name ? name[i] : STRING_NONE, .copy_kind = copy ? copy[i] : 0, .start = start[i],
			.ns = (start[i] || duration[i]) && duration[i] >= 0 ? duration[i] : -1,
			.bytes = bytes ? bytes[i] : 0, .whole_graph = k->record == ROW_graph,
		};

		if (call != NO_ROW) {
			e.first = !(w->used[call] & k->kind);
			w->used[call] |= (uint8_t)k->kind;
		}
		if (w->fn(&e, w->arg) < 0)
			return -1;
	}
	return 0;
}

static int walk_samples(struct event_walk *w)
{
	struct model *m = w->m;
	const int64_t *start = MODEL_I64(m, sample, start);
	const uint32_t *stack = MODEL_U32(m, sample, stack), *process = model_row_process(m, ROW_sample);

	if (!start || !stack || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_sample); i < n; i++) {
		const struct stack_event e = {
			.kind = EVENT_SAMPLE, .process = process[i], .stack = model_stack(m, process[i], stack[i]),
			.row = i, .call = NO_ROW, .start = start[i],
		};

		if (w->fn(&e, w->arg) < 0)
			return -1;
	}
	return 0;
}

uint32_t *model_range_stacks(struct model *m)
{
	const uint64_t *range = MODEL_U64(m, range_stack, range);
	const uint32_t *stack = MODEL_U32(m, range_stack, stack), *process = model_row_process(m, ROW_range_stack);
	size_t n = model_rows(m, ROW_range);
	uint32_t *of = malloc((n + 1) * sizeof *of);

	if (!of || !range || !stack || !process || !model_stacks(m) || model_join(m) < 0) {
		free(of);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		of[i] = NO_STACK;
	for (size_t i = 0, rows = model_rows(m, ROW_range_stack); i < rows; i++) {
		size_t row = model_range_of(m, process[i], range[i]);

		if (row != NO_ROW)
			of[row] = model_stack(m, process[i], stack[i]);
	}
	return of;
}

static int walk_ranges(struct event_walk *w)
{
	struct model *m = w->m;
	const int64_t *start = MODEL_I64(m, range, start), *duration = MODEL_I64(m, range, duration);
	const uint32_t *name = MODEL_U32(m, range, name), *process = model_row_process(m, ROW_range);
	uint32_t *stack = model_range_stacks(m);
	int rc = start && duration && name && process && stack ? 0 : -1;

	for (size_t i = 0, n = model_rows(m, ROW_range); rc == 0 && i < n; i++) {
		const struct stack_event e = {
			.kind = EVENT_RANGE, .process = process[i], .stack = stack[i], .row = i, .call = NO_ROW,
			.name = name[i], .start = start[i], .ns = duration[i],
		};

		if (e.stack != NO_STACK)
			rc = w->fn(&e, w->arg) < 0 ? -1 : 0;
	}
	free(stack);
	return rc;
}

int model_stack_events(struct model *m, unsigned kinds, int (*fn)(const struct stack_event *e, void *arg), void *arg)
{
	static const struct gpu_kind gpu[] = {
		{ EVENT_KERNEL, ROW_kernel, COL_kernel_start, COL_kernel_duration, COL_kernel_corr, COL_kernel_name, -1, -1 },
		{ EVENT_KERNEL, ROW_graph, COL_graph_start, COL_graph_duration, COL_graph_corr, -1, -1, -1 },
		{ EVENT_COPY, ROW_memcpy, COL_memcpy_start, COL_memcpy_duration, COL_memcpy_corr, -1, COL_memcpy_bytes,
		  COL_memcpy_kind },
		{ EVENT_SET, ROW_memset, COL_memset_start, COL_memset_duration, COL_memset_corr, -1, COL_memset_bytes, -1 },
	};
	struct event_walk w = { .m = m, .fn = fn, .arg = arg };
	int rc = 0;

	if (!model_stacks(m) || model_join(m) < 0 || !(w.stack = MODEL_U32(m, api, stack)) ||
	    !(w.used = calloc(model_rows(m, ROW_api) + 1, 1)))
		return -1;
	if (kinds & EVENT_CALL)
		rc = walk_calls(&w);
	for (size_t i = 0; i < sizeof gpu / sizeof *gpu && rc == 0; i++)
		if (kinds & gpu[i].kind)
			rc = walk_gpu(&w, &gpu[i]);
	if (rc == 0 && kinds & EVENT_SAMPLE)
		rc = walk_samples(&w);
	if (rc == 0 && kinds & EVENT_RANGE && model_has_range_stacks(m))
		rc = walk_ranges(&w);
	free(w.used);
	return rc;
}

bool model_has_call_stacks(struct model *m)
{
	const uint32_t *stack = model_rows(m, ROW_stack) ? MODEL_U32(m, api, stack) : NULL;

	for (size_t i = 0, n = model_rows(m, ROW_api); stack && i < n; i++)
		if (stack[i])
			return true;
	return false;
}

bool model_has_range_stacks(const struct model *m)
{
	return model_rows(m, ROW_range_stack) != 0;
}

bool model_has_samples(struct model *m)
{
	const struct process *processes;
	uint32_t n;

	if (model_rows(m, ROW_sample))
		return true;
	processes = model_processes(m, &n);
	for (uint32_t i = 0; i < n; i++)
		if (process_attribute(&processes[i], "sampling"))
			return true;
	return false;
}
