/*
 * tb_gpu_summary: utilization of each GPU in the time of all steps (gpu_metrics_parser.py).  Efficiency and occupancy are estimates from
 * launch configurations, not measured on the GPU.
 */
#include "cli/compat/tb/tb_gpu.h"
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/model.h"

#include <math.h>
#include <stdlib.h>

static const struct heading columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "device", COLUMN_ID }, { "name", COLUMN_TEXT }, { "memory_bytes", 0 },
	{ "compute_capability", COLUMN_TEXT | COLUMN_RARE }, { "utilization_pct", COLUMN_KEY }, { "est_sm_efficiency_pct", 0 },
	{ "est_achieved_occupancy_pct", 0 }, { "tensor_core_pct", 0 },
};

struct point {
	int64_t time;
	double change;                  /* blocks per SM that start; negative: that end */
};

/* By time; starts before ends. */
static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : (x->change < 0) - (y->change < 0);
}

/*
 * Time in start .. end weighted by the share of multiprocessors with a block, in ns; -1: not known.  points: two per kernel; sorted here.
 */
static double efficient(struct point *points, size_t n, int64_t start, int64_t end)
{
	double sum = 0, running = 0;

	if (n)
		qsort(points, n, sizeof *points, by_time);
	for (size_t i = 0; i + 1 < n; i++) {
		int64_t from = points[i].time > start ? points[i].time : start,
			to = points[i + 1].time < end ? points[i + 1].time : end;

		running += points[i].change;
		if (to > from && running > 0)
			sum += (double)(to - from) * (running < 1 ? running : 1);
	}
	return sum > 0 ? sum : -1;
}

static void of_kernel(struct tb_gpu *g, const struct tb_event *e, struct point *points, size_t *n, double *weighted, double *time,
		      int64_t start, int64_t end)
{
	int64_t from = e->start > start ? e->start : start, to = e->end < end ? e->end : end;

	spans_add(&g->kernels, from, to);
	if (e->blocks > 0) {
		points[(*n)++] = (struct point){ e->start, e->blocks };
		points[(*n)++] = (struct point){ e->end, -e->blocks };
	}
	if (e->occupancy >= 0 && to > from) {
		*weighted += e->occupancy * (double)(to - from);
		*time += (double)(to - from);
	}
}

/* Fills *g.  kernels[n_kernels]: the kernels of the GPU; .row: the event.  Returns 0, or -1 when out of memory. */
static int fill(const struct tb_run *r, const struct tb_tree *tree, struct tb_gpu *g, const struct timed *kernels, size_t n_kernels)
{
	struct point *points = malloc((2 * n_kernels + 1) * sizeof *points);
	int64_t start = r->steps[0].start, end = r->steps[r->n_steps - 1].end, busy;
	double weighted = 0, time = 0, window = (double)time_sub(end, start), sum;
	size_t n = 0;

	if (!points)
		return -1;
	for (size_t i = 0; i < n_kernels; i++)
		of_kernel(g, &r->events[kernels[i].row], points, &n, &weighted, &time, start, end);
	g->device = (int32_t)kernels->time;
	g->process = r->events[kernels[n_kernels - 1].row].process;
	busy = spans_union(&g->kernels);
	spans_release(&g->kernels);
	sum = efficient(points, n, start, end);
	free(points);
	if (busy < 0)
		return -1;
	g->utilization = window > 0 ? (double)busy / window : NAN;
	g->efficiency = window > 0 && sum >= 0 ? sum / window : NAN;
	g->occupancy = time > 0 ? weighted / time : NAN;
	g->tensor = tree ? tb_tensor_share(tree, r, kernels, n_kernels) : NAN;
	return 0;
}

/* All kernels by device, then in the order of events; .time: device, .row: event.  The caller frees the list.  NULL: out of memory. */
static struct timed *kernels_by_device(const struct tb_run *r, size_t *n)
{
	struct timed *list = malloc((r->n + 1) * sizeof *list);

	*n = 0;
	for (size_t i = 0; list && i < r->n; i++)
		if (r->events[i].type == TB_KERNEL)
			list[(*n)++] = (struct timed){ .time = r->events[i].device, .row = (uint32_t)i };
	if (list && timed_sort(list, *n) == 0)
		return list;
	free(list);
	return NULL;
}

/* As in the plugin, a GPU whose kernels no operator started has tensor share 0 if another GPU has one. */
static void know_tensor(struct tb_gpu *list, size_t n)
{
	bool any = false;

	for (size_t k = 0; k < n; k++)
		any |= !isnan(list[k].tensor);
	for (size_t k = 0; k < n && any; k++)
		list[k].tensor = isnan(list[k].tensor) ? 0 : list[k].tensor;
}

int tb_gpus(const struct tb_run *r, const struct tb_tree *tree, struct tb_gpu **out)
{
	size_t n_kernels, n = 0, k = 0;
	struct timed *kernels = kernels_by_device(r, &n_kernels);
	struct tb_gpu *list;
	int rc = kernels ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < n_kernels; i++)
		n += !i || kernels[i].time != kernels[i - 1].time;
	list = calloc(n + 1, sizeof *list);
	rc = list ? rc : -1;
	for (size_t i = 0, to; rc == 0 && i < n_kernels; i = to, k++) {
		for (to = i; to < n_kernels && kernels[to].time == kernels[i].time; to++)
			;
		rc = fill(r, tree, &list[k], kernels + i, to - i);
	}
	free(kernels);
	if (rc < 0) {
		free(list);
		return -1;
	}
	know_tensor(list, n);
	*out = list;
	return (int)n;
}

const struct device_row *tb_device(const struct tb_run *r, const struct tb_gpu *g)
{
	return model_device(r->m, g->process, (uint32_t)g->device);
}

static struct cell percent(double share)
{
	return isfinite(share) ? FIXED(tb_round(share * 10000), 2) : UNKNOWN;
}

static int put_run(struct tb_run *r, struct table *t, bool *unknown)
{
	struct tb_gpu *gpus = NULL;
	const struct tb_tree *tree = tb_tree_of(r);
	int n = !tree ? -1 : r->n_steps ? tb_gpus(r, tree, &gpus) : 0;

	for (int i = 0; i < n; i++) {
		const struct device_row *d = tb_device(r, &gpus[i]);
		const char *name = d ? model_string(r->m, d->name) : "";

		*unknown |= !isfinite(gpus[i].efficiency) || !isfinite(gpus[i].occupancy);
		table_row(t, (struct cell[]){
				     TEXT(table_keep(t, "%s", r->worker)), tb_rank(r), NUMBER(gpus[i].device),
				     *name ? TEXT(table_keep(t, "%s", name)) : UNKNOWN, d && d->memory ? NUMBER(d->memory) : UNKNOWN,
				     d && d->cc_major ? TEXT(table_keep(t, "%u.%u", d->cc_major, d->cc_minor)) : UNKNOWN,
				     percent(gpus[i].utilization), percent(gpus[i].efficiency), percent(gpus[i].occupancy / 100),
				     r->nameless ? UNKNOWN : percent(gpus[i].tensor / 100) });
	}
	free(gpus);
	return n < 0 ? -1 : 0;
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct tb_job *job = tb_get(m, choice);
	bool unknown = false;
	int rc = job ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < job->n; i++)
		rc = put_run(&job->runs[i], t, &unknown);
	if (rc == 0 && !t->n_rows)
		table_note(t, "no kernels: the trace has none");
	if (t->n_rows)
		table_note(t, "utilization is of the time from the first to the last event of the profiled steps, as in the plugin: time "
			      "between recorded windows counts as idle; the page (report without -r) and -r temporal leave it out");
	if (unknown)
		table_note(t, "efficiency or occupancy is unknown where the trace lacks launch configurations or the GPU's properties");
	tb_done(job, choice);
	return rc;
}

const struct report report_tb_gpu_summary = {
	.name = "tb_gpu_summary",
	.title = "GPU Utilization, Including Unrecorded Time Between Windows",
	.help = "What are utilization, estimated SM efficiency and occupancy of each GPU?",
	.needs = NEED_GPU,
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};
