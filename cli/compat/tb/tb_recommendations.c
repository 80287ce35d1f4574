/* tb_recommendations: the plugin's recommendations (data.py).  A rule whose input the trace lacks gives none. */
#include "cli/compat/tb/tb_gpu.h"
#include "cli/compat/tb/tb_memory.h"
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/model.h"

#include <math.h>
#include <stdlib.h>

static const struct heading columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "about", COLUMN_TEXT }, { "device", COLUMN_ID }, { "value_pct", 0 },
	{ "recommendation", COLUMN_TEXT },
};

/* The plugin's limits, in percent. */
#define MUCH_LOADING       5
#define MUCH_COMMUNICATION 10
#define LOW_UTILIZATION    50
#define NEARLY_FULL        90

#define FIRST_TENSOR_CORES 7    /* compute capability, major */

struct tb_advice {
	const struct tb_run *r;
	struct table *t;
	bool *loading, *communication;  /* set when that rule applies to a run */
};

static void put_advice(const struct tb_advice *a, const char *about, int64_t device, double value, const char *text)
{
	table_row(a->t, (struct cell[]){ TEXT(table_keep(a->t, "%s", a->r->worker)), tb_rank(a->r), TEXT(about),
					 device >= 0 ? NUMBER(device) : UNKNOWN,
					 isfinite(value) ? FIXED(tb_round(value * 10), 1) : UNKNOWN, TEXT(text) });
}

/* Share of a role in the time of all steps, in percent. */
static double share_of(const struct tb_run *r, enum tb_role role)
{
	double sum = 0, total = 0;

	for (size_t i = 0; i < r->n_steps; i++) {
		sum += (double)r->steps[i].cost[role];
		total += (double)time_sub(r->steps[i].end, r->steps[i].start);
	}
	return total > 0 ? 100 * sum / total : 0;
}

static uint32_t all_flags(const struct tb_run *r)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < r->n; i++)
		if (!tb_is_gpu(&r->events[i]) && r->events[i].type != TB_CALL)
			flags |= r->events[i].flags;
	return flags;
}

static bool several_devices(const struct tb_run *r)
{
	int32_t first = -1;

	for (size_t i = 0; i < r->n; i++)
		if (tb_is_gpu(&r->events[i])) {
			if (first >= 0 && r->events[i].device != first)
				return true;
			first = r->events[i].device;
		}
	return false;
}

static void of_time(const struct tb_advice *a)
{
	double loading = share_of(a->r, TB_ROLE_LOADER), talking = share_of(a->r, TB_ROLE_COMMUNICATION);

	*a->loading |= loading > MUCH_LOADING;
	*a->communication |= talking > MUCH_COMMUNICATION;
	if (loading > MUCH_LOADING)
		put_advice(a, "data loading", -1, loading,
			   "loading takes over 5 % of the steps: the plugin advises DataLoader workers (num_workers), pinned memory, prefetching");
	if (talking > MUCH_COMMUNICATION)
		put_advice(a, "communication", -1, talking,
			   "communication takes over 10 % of the steps: the plugin advises gradient compression or accumulation, larger batches");
}

static void of_libraries(const struct tb_advice *a, const struct device_row *d)
{
	uint32_t flags = all_flags(a->r);

	if (flags & TB_PARALLEL && several_devices(a->r))
		put_advice(a, "DataParallel", -1, NAN, "DataParallel drives several GPUs from one process: use DistributedDataParallel");
	if (flags & TB_DISTRIBUTED && !(flags & TB_NCCL) && d && (d->cc_major > 3 || (d->cc_major == 3 && d->cc_minor >= 5)))
		put_advice(a, "nccl", -1, NAN, "DistributedDataParallel without NCCL: on these GPUs its backend is the fastest");
}

static void of_gpus(const struct tb_advice *a, const struct tb_gpu *gpus, int n)
{
	for (int i = 0; i < n; i++)
		if (gpus[i].utilization * 100 < LOW_UTILIZATION)
			put_advice(a, "low utilization", gpus[i].device, gpus[i].utilization * 100,
				   "the GPU was idle most of the time: the plugin advises larger batches; report idle_stacks tells what the GPU waits for");
}

/* Recommends mixed precision if operators could use tensor cores, and no kernel does. */
static void of_tensor_cores(const struct tb_advice *a, const struct tb_tree *tree, const struct device_row *d)
{
	double eligible = tb_eligible_share(tree, a->r);
	bool kernels = false, tensor = false;

	for (size_t i = 0; i < a->r->n; i++)
		if (a->r->events[i].type == TB_KERNEL) {
			kernels = true;
			tensor |= (a->r->events[i].flags & TB_TENSOR) != 0;
		}
	if (!a->r->nameless && d && d->cc_major >= FIRST_TENSOR_CORES && kernels && !tensor && eligible > 0)
		put_advice(a, "mixed precision", -1, 100 * eligible,
			   "these operators could use tensor cores, and no kernel did: try automatic mixed precision");
}

static int of_memory(const struct tb_advice *a)
{
	struct tb_allocs allocs;
	int rc = tb_allocs_make(&allocs, a->r, NULL, 0);

	for (size_t k = 0; rc == 0 && k < allocs.n_devices; k++) {
		struct tb_peak p = tb_peak_of(&allocs, allocs.devices[k]);
		const struct device_row *d = allocs.devices[k] == TB_CPU_MEMORY ? NULL :
					     model_device(a->r->m, a->r->first_process, allocs.devices[k]);
		double full = d && d->memory ? 100.0 * (double)p.allocated / (double)d->memory : 0;

		if (p.known && full > NEARLY_FULL)
			put_advice(a, "memory", allocs.devices[k], full,
				   "PyTorch nearly fills this GPU's memory: gradient checkpoints or mixed precision make room");
	}
	tb_allocs_note(&allocs, a->r, a->t);
	tb_allocs_release(&allocs);
	return rc;
}

static int put_run(struct tb_run *r, struct table *t, bool *loading, bool *communication)
{
	struct tb_advice a = { r, t, loading, communication };
	struct tb_gpu *gpus = NULL;
	int n = r->n_steps ? tb_gpus(r, NULL, &gpus) : 0;
	const struct device_row *d = n > 0 ? tb_device(r, &gpus[0]) : NULL;
	const struct tb_tree *tree = tb_tree_of(r);
	int rc = n < 0 || !tree ? -1 : 0;

	d = d ? d : model_device(r->m, r->first_process, 0);
	of_time(&a);
	of_libraries(&a, d);
	if (rc == 0)
		of_gpus(&a, gpus, n);
	free(gpus);
	if (rc == 0)
		of_tensor_cores(&a, tree, d);
	return rc < 0 ? -1 : of_memory(&a);
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct tb_job *job = tb_get(m, choice);
	bool loading = false, communication = false;
	int rc = job ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < job->n; i++)
		rc = put_run(&job->runs[i], t, &loading, &communication);
	if (loading)
		table_note(t, "data loading: the rule only sees times: it advises workers even if the DataLoader has them. Report "
			   "phases shows how long steps wait for data");
	if (communication)
		table_note(t, "communication: the rule does not separate transfer from waiting. If ranks wait for a late rank, compression "
			   "does not help: see report ranks");
	if (rc == 0 && !t->n_rows)
		table_note(t, "no recommendations: no rule applies to this trace");
	tb_done(job, choice);
	return rc;
}

const struct report report_tb_recommendations = {
	.name = "tb_recommendations",
	.title = "Recommendations by the Rules of PyTorch's TensorBoard Plugin",
	.help = "What does TensorBoard's plugin recommend?",
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};
