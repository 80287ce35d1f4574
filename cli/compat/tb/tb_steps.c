/* tb_steps: the plugin's overview: time of each step by role (run_generator.py). */
#include "cli/compat/tb/tb.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "step", COLUMN_TEXT }, { "kernel_ns", 0 }, { "memcpy_ns", 0 },
	{ "memset_ns", 0 }, { "communication_ns", 0 }, { "runtime_ns", 0 }, { "dataloader_ns", 0 }, { "cpu_exec_ns", 0 },
	{ "other_ns", 0 }, { "total_ns", 0 },
};
#define FIRST_ROLE 3

/* Which roles are known: without any row of a role, it may not have been recorded. */
static void known_roles(const struct tb_run *r, bool known[TB_ROLES])
{
	bool gpu = r->roles[TB_ROLE_KERNEL].n || r->roles[TB_ROLE_MEMCPY].n || r->roles[TB_ROLE_MEMSET].n ||
		   r->roles[TB_ROLE_RUNTIME].n;

	known[TB_ROLE_KERNEL] = known[TB_ROLE_MEMCPY] = known[TB_ROLE_MEMSET] = known[TB_ROLE_RUNTIME] = gpu;
	known[TB_ROLE_COMMUNICATION] = r->roles[TB_ROLE_COMMUNICATION].n;
	known[TB_ROLE_LOADER] = r->roles[TB_ROLE_LOADER].n;
	known[TB_ROLE_CPU] = r->roles[TB_ROLE_CPU].n;
}

/* sum / n; with one decimal, unless n is 1. */
static struct cell mean(int64_t sum, size_t n)
{
	return n == 1 ? NUMBER(sum) : FIXED(((__int128)sum * 10 + (int64_t)n / 2) / (int64_t)n, 1);
}

static void put_run(const struct tb_run *r, struct table *t)
{
	bool known[TB_ROLES];
	int64_t sums[TB_ROLES + 2] = { 0 };
	struct cell cells[FIRST_ROLE + TB_ROLES + 2] = { TEXT(table_keep(t, "%s", r->worker)), tb_rank(r) };

	known_roles(r, known);
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct tb_step *s = &r->steps[i];
		int64_t total = time_sub(s->end, s->start);

		cells[2] = TEXT(table_keep(t, "%u", s->number));
		for (unsigned k = 0; k < TB_ROLES; k++) {
			cells[FIRST_ROLE + k] = known[k] ? NUMBER(s->cost[k]) : UNKNOWN;
			sums[k] = time_add(sums[k], s->cost[k]);
		}
		cells[FIRST_ROLE + TB_ROLES] = NUMBER(s->other);
		cells[FIRST_ROLE + TB_ROLES + 1] = NUMBER(total);
		sums[TB_ROLES] = time_add(sums[TB_ROLES], s->other);
		sums[TB_ROLES + 1] = time_add(sums[TB_ROLES + 1], total);
		table_row(t, cells);
	}
	if (!r->n_steps)
		return;
	cells[2] = TEXT("average");
	for (unsigned k = 0; k < TB_ROLES + 2; k++)
		cells[FIRST_ROLE + k] = k >= TB_ROLES || known[k] ? mean(sums[k], r->n_steps) : UNKNOWN;
	table_row(t, cells);
}

/* Notes the shares of roles over all ranks. */
static void note_all(const struct tb_job *job, struct table *t)
{
	static const char *const words[TB_ROLES] = { "kernels", "copies", "memory sets", "communication", "runtime", "loading", "CPU" };
	double sums[TB_ROLES] = { 0 }, other = 0, total = 0;
	bool all[TB_ROLES] = { true, true, true, true, true, true, true };
	size_t steps = 0, n = 0;
	char text[200];

	for (size_t i = 0; i < job->n; i++) {
		const struct tb_run *r = &job->runs[i];
		bool known[TB_ROLES];

		known_roles(r, known);
		for (size_t s = 0; s < r->n_steps; s++) {
			for (unsigned k = 0; k < TB_ROLES; k++) {
				all[k] &= known[k];
				sums[k] += (double)r->steps[s].cost[k];
			}
			other += (double)r->steps[s].other;
			total += (double)time_sub(r->steps[s].end, r->steps[s].start);
		}
		steps += r->n_steps;
	}
	if (job->n < 2 || total <= 0)
		return;
	for (unsigned k = 0; k < TB_ROLES; k++)
		if (all[k])
			n += (size_t)snprintf(text + n, sizeof text - n, "%s %.1f %%, ", words[k], 100 * sums[k] / total);
	snprintf(text + n, sizeof text - n, "other %.1f %%", 100 * other / total);
	table_note(t, "all %zu workers: %zu steps of %.3f ms on average; %s", job->n, steps, total / (double)steps / 1e6, text);
}

static void put_notes(const struct tb_job *job, struct table *t)
{
	static const char *const missing[TB_ROLES] = {
		[TB_ROLE_KERNEL] = "GPU work and calls of the CUDA runtime: the trace has no such rows",
		[TB_ROLE_COMMUNICATION] = "communication: the trace has no rows of collectives (nccl:..., gloo:...)",
		[TB_ROLE_LOADER] = "loading: the trace has no rows of a loader (enumerate(DataLoader)#...)",
		[TB_ROLE_CPU] = "CPU work: the trace has no operators (-t cuda,nvtx,torch-ops records them)",
	};
	bool without[TB_ROLES] = { false }, made_up = false, marked = false, partly = false;

	for (size_t i = 0; i < job->n; i++) {
		bool known[TB_ROLES];

		known_roles(&job->runs[i], known);
		for (unsigned k = 0; k < TB_ROLES; k++)
			without[k] |= !known[k];
		partly |= known[TB_ROLE_CPU] && job->runs[i].no_operators;
		made_up |= job->runs[i].made_up && job->runs[i].n_steps;
		marked |= !job->runs[i].made_up;
	}
	for (unsigned k = 0; k < TB_ROLES; k++)
		if (without[k] && missing[k])
			table_note(t, "not known: %s", missing[k]);
	if (partly)
		table_note(t, "CPU work is only that of scopes and autograd nodes: operators were not recorded (-t cuda,nvtx,torch-ops records "
			   "them)");
	if (made_up && marked)
		table_note(t, "by the plugin's rule a process without marked steps, such as a DataLoader worker, is one step, and "
			   "counts in the average of all workers; report steps counts only marked steps");
	else if (made_up)
		table_note(t, "no step is marked: the whole run counts as step 0");
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct tb_job *job = tb_get(m, choice);

	if (!job)
		return -1;
	for (size_t i = 0; i < job->n; i++)
		put_run(&job->runs[i], t);
	note_all(job, t);
	if (job->n)
		put_notes(job, t);
	tb_done(job, choice);
	return 0;
}

const struct report report_tb_steps = {
	.name = "tb_steps",
	.title = "Step Time by the Rules of PyTorch's TensorBoard Plugin",
	.help = "How is each step divided: kernel, copy, communication, runtime, loader, CPU, other?",
	.needs = NEED_GPU,
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};
