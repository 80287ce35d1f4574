/* Events of a recorded trace, as the plugin would read them.  Operators need -t torch-ops, steps and scopes -t torch. */
#include "cli/compat/tb/tb.h"
#include "cli/model/gpu/occupancy.h"
#include "cli/model/join.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"

#include <math.h>
#include <stdlib.h>

struct tb_own {
	struct tb_job *job;
	struct model *m;
	const struct torch_ranges *torch;
	const uint64_t *api_range;
	uint32_t *run_of;               /* by process: position of its run + 1; 0: none */
};

static struct tb_run *run_of(struct tb_own *o, uint32_t process)
{
	uint32_t n;
	const struct process *p = &model_processes(o->m, &n)[process];
	char name[64];
	struct tb_run *r;

	if (o->run_of[process])
		return &o->job->runs[o->run_of[process] - 1];
	r = tb_add_run(o->job, o->m, process_name(p, name, sizeof name), tb_rank_of(o->m, process));
	if (r) {
		r->first_process = process;
		r->n_processes = 1;
		o->run_of[process] = (uint32_t)o->job->n;
	}
	return r;
}

static struct tb_event *add_event(struct tb_own *o, uint32_t process, enum tb_type type, int64_t start, int64_t duration)
{
	struct tb_run *r = run_of(o, process);
	struct tb_event *e = r ? tb_add(r) : NULL;

	if (e)
		*e = (struct tb_event){ .start = start, .end = time_add(start, duration), .external = TB_NO_ID, .link = TB_NONE,
					.type = (uint8_t)type, .process = process, .index = (uint32_t)(r->n - 1), .device = -1 };
	return e;
}

static uint32_t tid_of(struct tb_own *o, uint32_t process, uint32_t thread)
{
	const struct thread *t = model_thread(o->m, process, thread);

	return t ? t->row.tid : 0;
}

/* Adds PyTorch's ranges; the External id of a range is its position + 1. */
static int torch_events(struct tb_own *o)
{
	for (size_t i = 0; i < o->torch->n; i++) {
		const struct torch_range *t = &o->torch->list[i];
		bool op = t->op != NO_TORCH && (t->scope == TORCH_OPERATOR || t->scope == TORCH_BACKWARD);
		const char *name = model_string(o->m, t->name);
		struct tb_event *e;

		if (tb_flags_of(name) & TB_PROFILER_STEP)
			continue;       /* steps come from model_steps() */
		e = add_event(o, t->process, op ? TB_OP : TB_ANNOTATION, t->start, time_sub(t->end, t->start));
		if (!e)
			return -1;
		e->name = t->name;
		e->flags = tb_flags_of(name);
		e->external = i + 1;
		e->tid = tid_of(o, t->process, t->thread);
		e->dims = op ? o->torch->dims[t->op] : 0;
		e->types = op ? o->torch->types[t->op] : 0;
	}
	return 0;
}

/* Adds the steps of the first kind of each process, without warm-up steps, whose rows were not recorded. */
static int step_events(struct tb_own *o)
{
	const struct steps *s = model_steps(o->m);
	uint32_t n, *kinds;
	int rc = 0;

	model_processes(o->m, &n);
	kinds = s ? calloc(n + 1, sizeof *kinds) : NULL;
	if (!kinds)
		return -1;
	for (size_t i = 0; i < s->n && rc == 0; i++) {
		const struct step *p = &s->list[i];
		struct tb_event *e;

		if (p->flags & STEP_WARMUP || (kinds[p->process] && kinds[p->process] != p->kind + 1))
			continue;
		kinds[p->process] = p->kind + 1;
		e = add_event(o, p->process, TB_STEP, p->start, time_sub(p->end, p->start));
		if (e) {
			e->number = p->number;
			e->name = p->name;
			e->tid = tid_of(o, p->process, p->thread);
		}
		rc = e ? 0 : -1;
	}
	free(kinds);
	return rc;
}

static uint64_t external_of(struct tb_own *o, uint32_t process, size_t api_row)
{
	uint64_t id = api_row != NO_ROW ? o->api_range[api_row] : 0;
	size_t row = id ? model_range_of(o->m, process, id) : NO_ROW;
	uint32_t at = row != NO_ROW ? torch_around(o->torch, row) : NO_TORCH;

	return at != NO_TORCH ? (uint64_t)at + 1 : TB_NO_ID;
}

static int call_events(struct tb_own *o)
{
	const int64_t *start = MODEL_I64(o->m, api, start), *duration = MODEL_I64(o->m, api, duration);
	const uint32_t *corr = MODEL_U32(o->m, api, corr), *thread = MODEL_U32(o->m, api, thread),
		       *name = MODEL_U32(o->m, api, name), *process = model_row_process(o->m, ROW_api);
	size_t n = model_rows(o->m, ROW_api);

	if (!start || !duration || !corr || !thread || !name || !process)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct tb_event *e = add_event(o, process[i], TB_CALL, start[i], duration[i]);

		if (!e)
			return -1;
		e->name = name[i];
		e->corr = corr[i];
		e->has_corr = corr[i] != 0;
		e->tid = tid_of(o, process[i], thread[i]);
		e->external = external_of(o, process[i], i);
	}
	return 0;
}

/*
 * Sets blocks and occupancy by Kineto's formulas (DeviceProperties.cpp): blocks / multiprocessors; warps / most warps of a multiprocessor.
 */
static void fill(struct tb_own *o, struct tb_event *e, uint32_t config)
{
	const struct config_row *c = model_config(o->m, e->process, config);
	const struct device_row *d = model_device(o->m, e->process, (uint32_t)e->device);
	struct occupancy most;
	double threads;

	e->config = config;
	e->blocks = e->occupancy = NAN;
	if (!c || !d || !d->sm_count || !d->warp || !d->max_warps_sm)
		return;
	threads = (double)c->block_x * c->block_y * c->block_z;
	e->blocks = (double)c->grid_x * c->grid_y * c->grid_z / d->sm_count;
	if (occupancy_of(c, d, &most) && most.blocks)
		e->occupancy = (double)tb_round(100 * (most.blocks < e->blocks ? most.blocks : e->blocks) * threads /
						  ((double)d->max_warps_sm * d->warp));
}

static int gpu_events(struct tb_own *o, unsigned kind, enum tb_type type, const unsigned columns[4])
{
	const int64_t *start = model_column(o->m, kind, columns[0]), *duration = model_column(o->m, kind, columns[1]);
	const uint32_t *corr = model_column(o->m, kind, columns[2]), *device = model_column(o->m, kind, columns[3]),
		       *process = model_row_process(o->m, kind),
		       *name = kind == ROW_kernel ? MODEL_U32(o->m, kernel, name) : NULL,
		       *config = kind == ROW_kernel ? MODEL_U32(o->m, kernel, config) : NULL;
	size_t n = model_rows(o->m, kind);

	if (!start || !duration || !corr || !device || !process || (kind == ROW_kernel && (!name || !config)))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct tb_event *e = start[i] ? add_event(o, process[i], type, start[i], duration[i]) : NULL;

		if (!start[i])
			continue;       /* CUPTI gave no time */
		if (!e)
			return -1;
		e->corr = corr[i];
		e->has_corr = corr[i] != 0;
		e->device = (int32_t)device[i];
		e->external = external_of(o, process[i], model_api_of(o->m, process[i], corr[i]));
		if (!name)
			continue;
		e->name = model_name(o->m, name[i], NAME_DEMANGLED);
		e->flags = tb_flags_of(model_string(o->m, e->name));
		fill(o, e, config[i]);
	}
	return 0;
}

int tb_own_runs(struct tb_job *job, struct model *m)
{
	static const unsigned kernel[] = { COL_kernel_start, COL_kernel_duration, COL_kernel_corr, COL_kernel_device };
	static const unsigned copy[] = { COL_memcpy_start, COL_memcpy_duration, COL_memcpy_corr, COL_memcpy_device };
	static const unsigned set[] = { COL_memset_start, COL_memset_duration, COL_memset_corr, COL_memset_device };
	struct tb_own o = { .job = job, .m = m };
	size_t first = job->n;
	uint32_t n;
	int rc;

	model_processes(m, &n);
	o.run_of = calloc((size_t)n + 1, sizeof *o.run_of);
	o.torch = o.run_of ? model_torch(m) : NULL;
	o.api_range = o.torch ? MODEL_U64(m, api, range) : NULL;
	rc = o.api_range && model_join(m) == 0 && torch_events(&o) == 0 && step_events(&o) == 0 && call_events(&o) == 0 &&
	     gpu_events(&o, ROW_kernel, TB_KERNEL, kernel) == 0 && gpu_events(&o, ROW_memcpy, TB_MEMCPY, copy) == 0 &&
	     gpu_events(&o, ROW_memset, TB_MEMSET, set) == 0 ? 0 : -1;
	for (size_t i = first; rc == 0 && i < job->n; i++)
		job->runs[i].no_operators = !o.torch->operators;
	free(o.run_of);
	return rc;
}
