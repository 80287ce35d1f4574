/* Iterates over a trace and passes slices to the format. */
#include "cli/export/export.h"
#include "cli/export/projections.h"
#include "cli/model/gpu/gpu.h"
#include "cli/model/join.h"
#include "cli/model/names.h"
#include "cli/model/nvtx/libraries.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"

#include <stdlib.h>

#define PROGRESS_ROWS 65536u
#define NO_RETURN     1u        /* api.flags */

static bool takes(const struct export *x, uint32_t process)
{
	return !x->takes || x->takes[process];
}

static void advance(struct export *x)
{
	x->oom |= x->out->failed;
	if (++x->done % PROGRESS_ROWS == 0 && x->progress)
		x->progress(x->done, x->total);
}

static uint32_t corr_of(const struct export *x, uint32_t process, uint32_t corr)
{
	return corr && x->corr_base ? corr + x->corr_base[process] : corr;
}

/* External id of a range: its row number + 1; 0: no range, or not in the trace. */
static uint64_t external_of(struct export *x, uint32_t process, uint64_t range)
{
	if (!range)
		return 0;
	/* Consecutive rows often lie in the same range: remember the last result. */
	if (x->last_range != range || x->last_process != process) {
		size_t row = model_range_of(x->m, process, range);

		x->last_range = range;
		x->last_process = process;
		x->last_external = row == NO_ROW ? 0 : row + 1;
	}
	return x->last_external;
}

/* Updates the end of a thread's track; slices that were open at the end of the process are drawn up to it. */
static void seen_until(struct export *x, uint32_t track, int64_t end)
{
	if (end > x->tracks[track].end)
		x->tracks[track].end = end;
}

/* ---- calls ---- */

struct calls {
	const int64_t *start, *duration;
	const uint64_t *range;
	const uint32_t *corr, *thread, *flags, *process;
};

static bool calls_read(struct export *x, struct calls *c)
{
	struct model *m = x->m;

	return (c->start = MODEL_I64(m, api, start)) && (c->duration = MODEL_I64(m, api, duration)) &&
	       (c->range = MODEL_U64(m, api, range)) && (c->corr = MODEL_U32(m, api, corr)) &&
	       (c->thread = MODEL_U32(m, api, thread)) && (c->flags = MODEL_U32(m, api, flags)) &&
	       (c->process = model_row_process(m, ROW_api));
}

static void put_call(struct export *x, const struct calls *c, size_t row, int64_t end)
{
	const struct host_slice s = {
		.row = row, .track = track_of_thread(x, c->process[row], c->thread[row]), .start = c->start[row],
		.duration = time_sub(end, c->start[row]), .external = external_of(x, c->process[row], c->range[row]),
		.corr = corr_of(x, c->process[row], c->corr[row]),
	};

	if (x->oom)
		return;
	seen_until(x, s.track, end);
	x->format->call(x, &s);
	x->events++;
}

static int walk_calls(struct export *x, const struct calls *c)
{
	for (size_t row = 0; row < model_rows(x->m, ROW_api) && !x->oom; row++, advance(x))
		if (takes(x, c->process[row]) && !(c->flags[row] & NO_RETURN))
			put_call(x, c, row, time_add(c->start[row], c->duration[row]));
	return x->oom ? -1 : 0;
}

/* ---- ranges ---- */

struct range_columns {
	const int64_t *start, *duration;
	const uint32_t *thread, *flags, *domain, *process;
};

static bool ranges_read(struct export *x, struct range_columns *r)
{
	struct model *m = x->m;

	return (r->start = MODEL_I64(m, range, start)) && (r->duration = MODEL_I64(m, range, duration)) &&
	       (r->thread = MODEL_U32(m, range, thread)) && (r->flags = MODEL_U32(m, range, flags)) &&
	       (r->domain = MODEL_U32(m, range, domain)) &&
	       (r->process = model_row_process(m, ROW_range));
}

static void put_range(struct export *x, const struct range_columns *r, size_t row, bool open)
{
	int64_t end = time_add(r->start[row], r->duration[row]);
	struct host_slice s = {
		.row = row,
		.start = r->start[row],
		.external = row + 1,
	};

	s.track = model_domain_of_library(x->m, r->process[row], r->domain[row])
		? track_of_libraries(x, r->process[row], r->thread[row])
		: track_of_thread(x, r->process[row], r->thread[row]);

	if (x->oom)
		return;
	if (r->flags[row] & RANGE_STARTEND) {
		s.duration = r->duration[row];
		x->format->interval(x, &s);
	} else {
		/* A range open at the end encloses everything its thread did after the range's begin. */
		if (open && end < x->tracks[s.track].end)
			end = x->tracks[s.track].end;
		s.duration = time_sub(end, s.start);
		seen_until(x, s.track, end);
		x->format->range(x, &s);
	}
	x->events++;
}

static int walk_ranges(struct export *x, const struct calls *c)
{
	struct range_columns r;
	size_t n, calls = model_rows(x->m, ROW_api);

	if (!ranges_read(x, &r))
		return -1;
	n = model_rows(x->m, ROW_range);
	for (size_t row = 0; row < n && !x->oom; row++, advance(x))
		if (takes(x, r.process[row]) && !(r.flags[row] & RANGE_INCOMPLETE))
			put_range(x, &r, row, false);
	for (size_t row = 0; row < n && !x->oom; row++)
		if (takes(x, r.process[row]) && r.flags[row] & RANGE_INCOMPLETE)
			put_range(x, &r, row, true);
	for (size_t row = 0; row < calls && !x->oom; row++)
		if (takes(x, c->process[row]) && c->flags[row] & NO_RETURN) {
			uint32_t track = track_of_thread(x, c->process[row], c->thread[row]);
			int64_t end = time_add(c->start[row], c->duration[row]);

			put_call(x, c, row, x->oom || end > x->tracks[track].end ? end : x->tracks[track].end);
		}
	return x->oom ? -1 : 0;
}

static int walk_marks(struct export *x)
{
	const int64_t *start = MODEL_I64(x->m, mark, start);
	const uint64_t *range = MODEL_U64(x->m, mark, range);
	const uint32_t *thread = MODEL_U32(x->m, mark, thread), *process = model_row_process(x->m, ROW_mark);

	if (!start || !range || !thread || !process)
		return -1;
	for (size_t row = 0; row < model_rows(x->m, ROW_mark) && !x->oom; row++, advance(x)) {
		struct host_slice s = { .row = row, .start = start[row] };

		if (!takes(x, process[row]))
			continue;
		s.track = track_of_thread(x, process[row], thread[row]);
		s.external = external_of(x, process[row], range[row]);
		x->format->mark(x, &s);
		x->events++;
	}
	return x->oom ? -1 : 0;
}

/* ---- GPU ---- */

/* Columns common to all GPU kinds. */
struct gpu_row_arrays {
	const int64_t *start, *duration;
	const uint32_t *corr, *device, *context, *stream, *process;
};

#define GPU_COLUMNS(c, m, rec)                                                                                         \
	(((c)->start = MODEL_I64((m), rec, start)) && ((c)->duration = MODEL_I64((m), rec, duration)) &&               \
	 ((c)->corr = MODEL_U32((m), rec, corr)) && ((c)->stream = MODEL_U32((m), rec, stream)) &&                     \
	 ((c)->context = MODEL_U32((m), rec, context)) && ((c)->process = model_row_process((m), ROW_##rec)))

struct gpu_walk {
	struct gpu_row_arrays kernels, copies, sets, graphs, waits;
	const struct calls *calls;
	struct projections projections;
	uint8_t *used;                  /* by API row: 1 if its correlation id is already used as the id of an arrow */
};

static bool gpu_read(struct export *x, struct gpu_walk *g)
{
	struct model *m = x->m;

	return GPU_COLUMNS(&g->kernels, m, kernel) && GPU_COLUMNS(&g->copies, m, memcpy) &&
	       GPU_COLUMNS(&g->sets, m, memset) && GPU_COLUMNS(&g->graphs, m, graph) &&
	       (g->graphs.device = MODEL_U32(m, graph, device)) && GPU_COLUMNS(&g->waits, m, sync) &&
	       (g->kernels.device = MODEL_U32(m, kernel, device)) &&
	       (g->copies.device = MODEL_U32(m, memcpy, device)) && (g->sets.device = MODEL_U32(m, memset, device));
}

/* Sets the call that launched the GPU row, and the id of the arrow between them. */
static void join_call(struct export *x, struct gpu_walk *g, uint32_t process, uint32_t corr, struct gpu_slice *s)
{
	size_t call = model_api_of(x->m, process, corr);

	if (call == NO_ROW)
		return;
	s->external = external_of(x, process, g->calls->range[call]);
	s->launched = true;
	s->call_track = track_of_thread(x, process, g->calls->thread[call]);
	s->call_start = g->calls->start[call];
	/* A call can launch many rows (a graph).  Each arrow needs a unique id; the first uses the correlation id. */
	s->flow = g->used[call] ? x->flow_base + ++x->n_flows : s->corr;
	g->used[call] = 1;
}

static void put_gpu(struct export *x, struct gpu_walk *g, const struct gpu_row_arrays *c, unsigned kind, size_t row)
{
	uint32_t process = c->process[row], device = 0;
	int64_t start = c->start[row], duration = c->duration[row];
	struct gpu_slice s = {
		.kind = kind,
		.row = row,
		.start = start,
		.duration = duration,
		.corr = corr_of(x, process, c->corr[row]),
	};
	const struct context_row *context;

	if (!takes(x, process))
		return;
	if (!start || duration < 0) {
		x->untimed++;
		return;
	}
	if (c->device)
		device = c->device[row];
	else if ((context = model_context(x->m, process, c->context[row])))
		device = context->device;
	s.track = track_of_stream(x, kind == ROW_sync ? TRACK_WAITS : TRACK_STREAM, process, device, c->stream[row],
				  start, time_add(start, duration));
	join_call(x, g, process, c->corr[row], &s);
	if (x->oom)
		return;
	x->format->gpu(x, &s);
	x->events++;
	if (s.launched)
		projections_see(&g->projections, &s, process, g->calls->range[model_api_of(x->m, process, c->corr[row])]);
}

static int walk_waits(struct export *x, struct gpu_walk *g)
{
	size_t n = model_rows(x->m, ROW_sync);
	struct timed *order = malloc(n * sizeof *order + 1);

	if (!order)
		return -1;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct timed){ .time = g->waits.start[i], .row = (uint32_t)i };
	if (timed_sort(order, n) < 0)
		x->oom = true;
	for (size_t i = 0; i < n && !x->oom; i++, advance(x))
		put_gpu(x, g, &g->waits, ROW_sync, order[i].row);
	free(order);
	return x->oom ? -1 : 0;
}

static const struct gpu_row_arrays *columns_of(const struct gpu_walk *g, unsigned kind)
{
	return kind == ROW_kernel   ? &g->kernels
	       : kind == ROW_memcpy ? &g->copies
	       : kind == ROW_memset ? &g->sets
				    : &g->graphs;
}

static int walk_gpu(struct export *x, const struct calls *calls)
{
	struct gpu_walk g = { .calls = calls, .used = calloc(model_rows(x->m, ROW_api) + 1, 1) };
	struct timed *order = NULL;
	size_t n = 0;
	int rc = -1;

	if (!g.used || !gpu_read(x, &g) || projections_begin(&g.projections, x) < 0)
		goto out;
	order = model_gpu_order(x->m, &n);
	if (!order)
		goto out;
	for (size_t i = 0; i < n && !x->oom; i++, advance(x))
		put_gpu(x, &g, columns_of(&g, order[i].kind), order[i].kind, order[i].row);
	rc = walk_waits(x, &g);
	if (projections_end(&g.projections) < 0)
		rc = -1;
out:
	free(order);
	free(g.used);
	return rc;
}

static int walk_overhead(struct export *x)
{
	const int64_t *start = MODEL_I64(x->m, overhead, start), *duration = MODEL_I64(x->m, overhead, duration);
	const uint32_t *process = model_row_process(x->m, ROW_overhead);
	size_t n = model_rows(x->m, ROW_overhead);
	struct timed *order = malloc(n * sizeof *order + 1);

	if (!start || !duration || !process || !order)
		x->oom = true;
	for (size_t i = 0; i < n && !x->oom; i++)
		order[i] = (struct timed){ .time = start[i], .row = (uint32_t)i };
	if (!x->oom && timed_sort(order, n) < 0)
		x->oom = true;
	for (size_t i = 0; i < n && !x->oom; i++, advance(x)) {
		uint32_t row = order[i].row, p = process[row];

		if (!takes(x, p) || !start[row] || duration[row] < 0)
			continue;
		uint32_t track = track_of_stream(x, TRACK_OVERHEAD, p, 0, 0, start[row],
						 time_add(start[row], duration[row]));

		if (x->oom)
			break;
		x->format->overhead(x, row, track, start[row], duration[row]);
		x->events++;
	}
	free(order);
	return x->oom ? -1 : 0;
}

/* Unified memory: tracks of the device, because no call launched these rows and they belong to no stream. */
static int walk_unified(struct export *x)
{
	const int64_t *start = MODEL_I64(x->m, unified, start), *duration = MODEL_I64(x->m, unified, duration);
	const uint32_t *kind = MODEL_U32(x->m, unified, kind), *source = MODEL_U32(x->m, unified, source);
	const uint32_t *target = MODEL_U32(x->m, unified, target), *process = model_row_process(x->m, ROW_unified);
	size_t n = model_rows(x->m, ROW_unified);
	struct timed *order = malloc(n * sizeof *order + 1);

	x->oom |= !start || !duration || !kind || !source || !target || !process || !order;
	for (size_t i = 0; i < n && !x->oom; i++)
		order[i] = (struct timed){ .time = start[i], .row = (uint32_t)i };
	if (!x->oom && timed_sort(order, n) < 0)
		x->oom = true;
	for (size_t i = 0; i < n && !x->oom; i++, advance(x)) {
		uint32_t row = order[i].row, p = process[row], track;
		bool faults = kind[row] == 4;

		if (!takes(x, p) || (!faults && !unified_words(kind[row])))
			continue;
		if (!start[row] || duration[row] < 0) {
			x->untimed++;
			continue;
		}
		track = track_of_stream(x, TRACK_UNIFIED, p, target[row] != UINT32_MAX ? target[row] : source[row],
					faults, start[row], time_add(start[row], duration[row]));
		if (x->oom)
			break;
		x->format->unified(x, row, track, start[row], duration[row]);
		x->events++;
	}
	free(order);
	return x->oom ? -1 : 0;
}

/* ---- steps ---- */

/* The thread for a step around the whole trace: that of the first call, else of the first range. */
static bool main_thread(struct export *x, const struct calls *c, uint32_t *process, uint32_t *thread)
{
	struct range_columns r;

	for (size_t row = 0; row < model_rows(x->m, ROW_api); row++)
		if (takes(x, c->process[row])) {
			*process = c->process[row];
			*thread = c->thread[row];
			return true;
		}
	if (!ranges_read(x, &r))
		return false;
	for (size_t row = 0; row < model_rows(x->m, ROW_range); row++)
		if (takes(x, r.process[row])) {
			*process = r.process[row];
			*thread = r.thread[row];
			return true;
		}
	return false;
}

struct extent {
	struct model *m;
	int64_t first, last;
};

static void widen(struct export *x, unsigned kind, unsigned start_field, unsigned duration_field, struct extent *e)
{
	const int64_t *start = model_column(x->m, kind, start_field),
		      *duration = model_column(x->m, kind, duration_field);
	const uint32_t *process = model_row_process(x->m, kind);

	for (size_t i = 0; start && duration && process && i < model_rows(x->m, kind); i++) {
		if (!takes(x, process[i]) || !start[i])
			continue;
		if (start[i] < e->first)
			e->first = start[i];
		if (time_add(start[i], duration[i]) > e->last)
			e->last = time_add(start[i], duration[i]);
	}
}

/* Writes a step around the whole trace, because some tools need at least one step. */
static void put_covering_step(struct export *x, const struct calls *c)
{
	struct extent e = { .first = INT64_MAX, .last = INT64_MIN };
	struct host_slice s = { .row = SIZE_MAX };
	uint32_t process, thread;

	if (!main_thread(x, c, &process, &thread))
		return;
	widen(x, ROW_api, COL_api_start, COL_api_duration, &e);
	widen(x, ROW_range, COL_range_start, COL_range_duration, &e);
	widen(x, ROW_kernel, COL_kernel_start, COL_kernel_duration, &e);
	widen(x, ROW_memcpy, COL_memcpy_start, COL_memcpy_duration, &e);
	widen(x, ROW_memset, COL_memset_start, COL_memset_duration, &e);
	widen(x, ROW_graph, COL_graph_start, COL_graph_duration, &e);
	s.track = track_of_thread(x, process, thread);
	if (x->oom)
		return;
	s.start = e.first;
	/* Open ranges and calls were drawn up to the end of the thread's track; the step must enclose them. */
	s.duration = time_sub(e.last > x->tracks[s.track].end ? e.last : x->tracks[s.track].end, e.first);
	s.external = model_rows(x->m, ROW_range) + 1;
	x->format->step(x, &s, 0, true);
	x->events++;
}

static int walk_steps(struct export *x, const struct calls *c)
{
	struct step_slice *steps = NULL;
	size_t n = 0;
	bool named = false;

	if (export_steps(x, &steps, &n, &named) < 0)
		return -1;
	for (size_t i = 0; i < n && !x->oom; i++) {
		const struct host_slice s = {
			.row = SIZE_MAX,
			.track = steps[i].apart ? track_of_steps(x, steps[i].process)
						: track_of_thread(x, steps[i].process, steps[i].thread),
			.start = steps[i].start,
			.duration = time_sub(steps[i].end, steps[i].start),
			.external = model_rows(x->m, ROW_range) + 1 + i,
		};

		x->format->step(x, &s, steps[i].number, false);
		x->events++;
	}
	free(steps);
	if (!n && !named)
		put_covering_step(x, c);
	return x->oom ? -1 : 0;
}

/* ---- all of it ---- */

/* Updates the largest correlation id of each process, and of all. */
static int highest_corr(struct export *x, unsigned kind, unsigned field, uint32_t *highest)
{
	const uint32_t *corr = model_column(x->m, kind, field), *process = model_row_process(x->m, kind);

	if (!corr || !process)
		return -1;
	for (size_t i = 0, n = model_rows(x->m, kind); i < n; i++) {
		if (highest && corr[i] > highest[process[i]])
			highest[process[i]] = corr[i];
		if (corr[i] > x->flow_base)
			x->flow_base = corr[i];
	}
	return 0;
}

/* In a merged file, numbers correlation ids so that those of a process follow those of the previous process. */
static int number_corr(struct export *x)
{
	uint64_t base = 0, here;
	uint32_t n;

	model_processes(x->m, &n);
	if (x->merged && !(x->corr_base = calloc(n, sizeof *x->corr_base)))
		return -1;
	if (highest_corr(x, ROW_api, COL_api_corr, x->corr_base) < 0 ||
	    highest_corr(x, ROW_kernel, COL_kernel_corr, x->corr_base) < 0 ||
	    highest_corr(x, ROW_memcpy, COL_memcpy_corr, x->corr_base) < 0 ||
	    highest_corr(x, ROW_memset, COL_memset_corr, x->corr_base) < 0 ||
	    highest_corr(x, ROW_graph, COL_graph_corr, x->corr_base) < 0)
		return -1;
	for (uint32_t p = 0; x->merged && p < n; p++) {
		here = x->corr_base[p];
		x->corr_base[p] = (uint32_t)base;
		base += here;
	}
	if (x->merged)
		x->flow_base = base;
	return 0;
}

static uint64_t count_rows(const struct export *x)
{
	static const unsigned kinds[] = { ROW_api,    ROW_range, ROW_mark, ROW_kernel,  ROW_memcpy,
					  ROW_memset, ROW_graph, ROW_sync, ROW_overhead, ROW_unified };
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		n += model_rows(x->m, kinds[i]);
	return n;
}

int export_walk(struct export *x)
{
	struct calls calls;

	if (x->format->sum)
		return x->format->sum(x);
	x->total = count_rows(x);
	if (model_join(x->m) < 0 || !calls_read(x, &calls) || number_corr(x) < 0 || x->format->begin(x) < 0)
		return -1;
	if (walk_calls(x, &calls) < 0 || walk_ranges(x, &calls) < 0 || walk_marks(x) < 0 || walk_steps(x, &calls) < 0 ||
	    export_samples(x) < 0)
		return -1;
	if (walk_gpu(x, &calls) < 0 || walk_unified(x) < 0 || walk_overhead(x) < 0)
		return -1;
	return x->format->end(x);
}

void export_release(struct export *x)
{
	if (x->format->release)
		x->format->release(x);
	x->own = NULL;
	free(x->tracks);
	free(x->corr_base);
	map_release(&x->places);
	map_release(&x->gpu_places);
	map_release(&x->pids);
	map_release(&x->taken);
}

bool export_leads(struct model *m, uint32_t process)
{
	const struct phases *phases;

	if (!model_process_selected(m, process))
		return false;
	if (model_process_rows(m, ROW_api, process) || model_process_rows(m, ROW_kernel, process) ||
	    model_process_rows(m, ROW_memcpy, process) || model_process_rows(m, ROW_memset, process))
		return true;
	phases = model_has_torch(m) ? model_phases(m) : NULL;
	return phases && phases[process].n_steps;
}
