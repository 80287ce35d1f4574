#include "cli/report/job/ranks_read.h"

#include "cli/model/gpu/kernel_class.h"
#include "cli/model/join.h"
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/report/job/comm_args.h"
#include "cli/report/job/late.h"
#include "cli/report/steps/step_times.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>

int ranks_begin(struct ranks *r, struct model *m, const struct report_choice *choice)
{
	*r = (struct ranks){ 0 };
	if (job_begin(&r->job, m, choice) < 0)
		return -1;
	r->collectives = calloc(r->job.n + 1, sizeof *r->collectives);
	r->unknown = calloc(r->job.n + 1, sizeof *r->unknown);
	return r->collectives && r->unknown ? 0 : -1;
}

int64_t ranks_twice(const struct ranks *r)
{
	for (size_t i = 1; i < r->job.n; i++)
		if (r->job.list[i].number == r->job.list[i - 1].number)
			return r->job.list[i].number;
	return -1;
}

void ranks_release(struct ranks *r)
{
	for (size_t i = 0; r->collectives && i < r->job.n; i++)
		free(r->collectives[i].list);
	free(r->collectives);
	free(r->unknown);
	job_end(&r->job);
}

/* ---- collectives ---- */

/* Reading the kernels of one model. */
struct ranks_reader {
	struct model *m, *names;        /* names: the model whose string ids number the process groups of all models */
	const int64_t *start, *duration;
	const uint32_t *corr, *name, *process;
	const uint64_t *call_range;
	const uint32_t *range_name, *parents;
	const struct steps *steps;
	int32_t **step_of;              /* by kind of step: model_row_steps() of kernels */
	struct comm_args args;
	struct map kernels;             /* string id of a name -> whether the kernel communicates */
	size_t *rank_of;                /* by process; SIZE_MAX: no rank */
};

/* Operation and arguments of a collective. */
struct identity {
	const struct collective_op *op;
	const struct comm_arg *arg;     /* NULL: none */
};

static int read_columns(struct ranks_reader *k)
{
	struct model *m = k->m;

	k->start = MODEL_I64(m, kernel, start);
	k->duration = MODEL_I64(m, kernel, duration);
	k->corr = MODEL_U32(m, kernel, corr);
	k->name = MODEL_U32(m, kernel, name);
	k->process = model_row_process(m, ROW_kernel);
	k->call_range = MODEL_U64(m, api, range);
	k->range_name = MODEL_U32(m, range, name);
	k->parents = model_range_parents(m);
	k->steps = model_steps(m);
	return k->start && k->duration && k->corr && k->name && k->process && k->call_range && k->range_name && k->parents && k->steps &&
		model_join(m) == 0 ? 0 : -1;
}

static int read_steps(struct ranks_reader *k)
{
	k->step_of = calloc(k->steps->n_kinds + 1, sizeof *k->step_of);
	for (size_t i = 0; k->step_of && i < k->steps->n_kinds; i++)
		if (!(k->step_of[i] = model_row_steps(k->m, ROW_kernel, i)))
			return -1;
	return k->step_of ? 0 : -1;
}

/* The step that launched the kernel, if it is recorded and complete; else LATE_NO_STEP. */
static int64_t step_of(const struct ranks_reader *k, size_t row)
{
	for (size_t i = 0; i < k->steps->n_kinds; i++) {
		const struct step *s = k->step_of[i][row] < 0 ? NULL : &k->steps->list[k->step_of[i][row]];

		if (s && step_was_kept(k->steps, s) && !(s->flags & STEP_INCOMPLETE))
			return (int64_t)i << 32 | s->number;
	}
	return LATE_NO_STEP;
}

static bool communicates(struct ranks_reader *k, uint32_t name)
{
	bool new = false;
	uint32_t *at = map_put(&k->kernels, name, 0, &new);

	if (!at)
		return model_kernel_communicates(k->m, name);
	if (new)
		*at = model_kernel_communicates(k->m, name) + 1u;
	return *at - 1;
}

/*
 * The operation is, in this order, that of the arguments, of the innermost range around the launch that names one, or of the kernel's name.
 * Arguments are those of the kernel, else of the innermost range around its launch that has some.
 */
static struct identity identify(struct ranks_reader *k, uint32_t process, size_t row)
{
	struct identity id = { .arg = comm_arg_of(&k->args, ROW_kernel, row) };
	size_t call = model_api_of(k->m, process, k->corr[row]),
	       range = call == NO_ROW ? NO_ROW : model_range_of(k->m, process, k->call_range[call]);

	for (; range != NO_ROW; range = k->parents[range] == UINT32_MAX ? NO_ROW : k->parents[range]) {
		const char *announced = collective_of_range(model_string(k->m, k->range_name[range]));

		if (!id.op && announced)
			id.op = collective_op_of(announced);
		if (!id.arg)
			id.arg = comm_arg_of(&k->args, ROW_range, range);
	}
	if (id.arg && id.arg->op && collective_op_of(model_string(k->m, id.arg->op))->kind != COLLECTIVE_UNKNOWN)
		id.op = collective_op_of(model_string(k->m, id.arg->op));
	if (!id.op)
		id.op = collective_op_of(model_string(k->m, model_name(k->m, k->name[row], NAME_DEMANGLED)));
	return id;
}

/* The number of a process group, the same for all ranks: a string id of its name and ranks in k->names.  0: not recorded. */
static uint32_t group_of(const struct ranks_reader *k, const struct comm_arg *arg)
{
	char text[1200];
	uint32_t id;

	if (!arg || !arg->group)
		return 0;
	snprintf(text, sizeof text, "process group %.500s %.600s", model_string(k->m, arg->group),
		 arg->ranks ? model_string(k->m, arg->ranks) : "");
	id = model_intern(k->names, text);
	return id == MAP_NONE ? 0 : id;
}

static bool add_collective(struct collectives *to, const struct collective *c)
{
	if (!GROW(to->list, to->n + 1, to->cap))
		return false;
	to->list[to->n++] = *c;
	return true;
}

static int add_kernel(struct ranks_reader *k, struct ranks *r, size_t row)
{
	size_t rank = k->rank_of[k->process[row]];
	struct identity id;

	if (rank == SIZE_MAX || !communicates(k, k->name[row]))
		return 0;
	id = identify(k, k->process[row], row);
	if (id.op->kind == COLLECTIVE_UNKNOWN || !k->start[row] || k->duration[row] < 0) {
		r->unknown[rank]++;
		return 0;
	}
	return add_collective(&r->collectives[rank], &(struct collective){
		.start = k->start[row], .duration = k->duration[row], .op = id.op, .group = group_of(k, id.arg),
		.sequence = id.arg ? id.arg->sequence : NO_SEQUENCE, .step = step_of(k, row) }) ? 0 : -1;
}

static void reading_release(struct ranks_reader *k)
{
	for (size_t i = 0; k->step_of && i < k->steps->n_kinds; i++)
		free(k->step_of[i]);
	free(k->step_of);
	free((void *)k->parents);
	free(k->rank_of);
	map_release(&k->kernels);
	comm_args_release(&k->args);
}

static int read_model(struct ranks *r, struct model *m)
{
	struct ranks_reader k = { .m = m, .names = r->job.models[0].m };
	uint32_t processes;
	int rc = 0;

	model_processes(m, &processes);
	k.rank_of = malloc((processes + 1) * sizeof *k.rank_of);
	if (!k.rank_of || read_columns(&k) < 0 || read_steps(&k) < 0 || comm_args_read(&k.args, m) < 0)
		rc = -1;
	for (uint32_t p = 0; rc == 0 && p < processes; p++)
		k.rank_of[p] = SIZE_MAX;
	for (size_t i = 0; rc == 0 && i < r->job.n; i++)
		for (uint32_t p = r->job.list[i].first; r->job.list[i].m == m && p < r->job.list[i].end; p++)
			k.rank_of[p] = i;
	for (size_t row = 0, n = model_rows(m, ROW_kernel); rc == 0 && row < n; row++)
		rc = add_kernel(&k, r, row);
	reading_release(&k);
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct collective *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int ranks_collectives(struct ranks *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->job.n_models && rc == 0; i++)
		rc = read_model(r, r->job.models[i].m);
	for (size_t i = 0; i < r->job.n; i++)
		if (r->collectives[i].n > 1)
			qsort(r->collectives[i].list, r->collectives[i].n, sizeof *r->collectives[i].list, by_start);
	return rc;
}
