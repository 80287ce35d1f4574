#include "cli/report/steps/step_times.h"

#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/spans.h"

#include <stdlib.h>
#include <string.h>

enum { KERNELS, COPIES, SETS, GRAPHS, GPU_KINDS };

static const struct {
	unsigned kind, start, duration;
} gpu_kinds[GPU_KINDS] = {
	{ ROW_kernel, COL_kernel_start, COL_kernel_duration },
	{ ROW_memcpy, COL_memcpy_start, COL_memcpy_duration },
	{ ROW_memset, COL_memset_start, COL_memset_duration },
	{ ROW_graph, COL_graph_start, COL_graph_duration },
};

/* GPU rows of one kind, by step: the rows of step i of the kind of steps are rows[first[i]] to rows[first[i + 1] - 1]. */
struct by_step {
	uint32_t *rows;
	size_t *first;
	const int64_t *start, *duration;
};

struct step_times_builder {
	struct model *m;
	const struct steps *s;
	struct step_times *out;
	struct by_step by_step[GPU_KINDS];
	struct spans busy;
	bool oom;
};

bool step_counts(const struct steps *s, const struct step *step)
{
	return step->selected && step_was_kept(s, step) && !(step->flags & STEP_INCOMPLETE);
}

/* ---- calls ---- */

/* Whether a CUDA function launches GPU work: cudaLaunchKernelExC, cuLaunchCooperativeKernel, cudaGraphLaunch; not cudaLaunchHostFunc. */
static bool launches(const char *name)
{
	return strstr(name, "Launch") && !strstr(name, "LaunchHostFunc");
}

static int add_calls(struct step_times_builder *k, size_t step_kind)
{
	struct model *m = k->m;
	const int64_t *duration = MODEL_I64(m, api, duration);
	const uint32_t *name = MODEL_U32(m, api, name);
	int32_t *of = model_row_steps(m, ROW_api, step_kind);
	struct map launch = { 0 };
	int rc = duration && name && of ? 0 : -1;

	for (size_t i = 0, n = model_rows(m, ROW_api); rc == 0 && i < n; i++) {
		struct step_times *t = of[i] < 0 ? NULL : &k->out[of[i]];
		uint32_t *known;
		bool new;

		if (!t)
			continue;
		known = map_put(&launch, name[i], 0, &new);
		if (!known) {
			rc = -1;
			break;
		}
		if (new)
			*known += launches(model_string(m, name[i]));
		t->launches += *known - 1;
		t->api = time_add(t->api, duration[i] > 0 ? duration[i] : 0);
	}
	map_release(&launch);
	free(of);
	return rc;
}

/* ---- GPU rows ---- */

static void by_step_release(struct by_step *b)
{
	free(b->rows);
	free(b->first);
	*b = (struct by_step){ 0 };
}

static int by_step_make(struct step_times_builder *k, size_t step_kind, unsigned which, struct by_step *b)
{
	const struct step_kind *kind = &k->s->kinds[step_kind];
	int32_t *of = model_row_steps(k->m, gpu_kinds[which].kind, step_kind);
	size_t n = model_rows(k->m, gpu_kinds[which].kind), at = 0;

	b->start = model_column(k->m, gpu_kinds[which].kind, gpu_kinds[which].start);
	b->duration = model_column(k->m, gpu_kinds[which].kind, gpu_kinds[which].duration);
	b->first = calloc(kind->n + 2, sizeof *b->first);
	b->rows = malloc(n * sizeof *b->rows + 1);
	if (!of || !b->start || !b->duration || !b->first || !b->rows) {
		free(of);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (of[i] >= 0)
			b->first[(size_t)of[i] - kind->first + 2]++;
	for (size_t i = 2; i < kind->n + 2; i++)
		at = b->first[i] += at;
	/* first[i + 1] is now the start of step i; filling the rows moves it to the end of step i. */
	for (size_t i = 0; i < n; i++)
		if (of[i] >= 0)
			b->rows[b->first[(size_t)of[i] - kind->first + 1]++] = (uint32_t)i;
	free(of);
	return 0;
}

static void add_rows(struct step_times_builder *k, unsigned which, size_t step, struct step_times *t)
{
	const struct by_step *b = &k->by_step[which];

	for (size_t i = b->first[step]; i < b->first[step + 1]; i++) {
		uint32_t row = b->rows[i];
		int64_t start = b->start[row], end;

		t->kernels += which == KERNELS;
		if (!start || b->duration[row] < 0)
			continue;
		end = time_add(start, b->duration[row]);
		if (!t->launched || start < t->launched_start)
			t->launched_start = start;
		if (!t->launched || end > t->launched_end)
			t->launched_end = end;
		t->launched = true;
		t->graphs += which == GRAPHS;
		spans_add(&k->busy, start, end);
	}
}

static void add_step(struct step_times_builder *k, size_t step, struct step_times *t)
{
	spans_clear(&k->busy);
	for (unsigned i = 0; i < GPU_KINDS; i++)
		add_rows(k, i, step, t);
	t->launched_busy = spans_union(&k->busy);
	k->oom |= t->launched_busy < 0;
}

static int add_kind(struct step_times_builder *k, size_t step_kind)
{
	const struct step_kind *kind = &k->s->kinds[step_kind];
	int rc = add_calls(k, step_kind);

	for (unsigned i = 0; i < GPU_KINDS && rc == 0; i++)
		rc = by_step_make(k, step_kind, i, &k->by_step[i]);
	for (size_t i = 0; i < kind->n && rc == 0 && !k->oom; i++)
		add_step(k, i, &k->out[kind->first + i]);
	for (unsigned i = 0; i < GPU_KINDS; i++)
		by_step_release(&k->by_step[i]);
	return rc < 0 || k->oom ? -1 : 0;
}

/* Sets wall, gpu and the flags calls and counted.  A step without calls has 0 calls only if calls of its process were recorded. */
static void know(struct step_times_builder *k, const struct gpu_sets *gpu, const struct process *p, size_t i)
{
	const struct step *step = &k->s->list[i];
	struct step_times *t = &k->out[i];
	bool kept = step_was_kept(k->s, step);

	t->wall = time_sub(step->end, step->start);
	if (kept)
		t->gpu = gpu_times_within(gpu, step->process, step->start, step->end);
	t->calls = kept && (t->api || model_process_has(k->m, ROW_api, step->process) || p->flags & PROCESS_CUPTI);
	t->counted = kept && !t->graphs && (gpu->rows[step->process].rows || p->flags & PROCESS_KERNELS);
}

struct step_times *step_times_make(struct model *m, const struct steps *s)
{
	struct step_times_builder k = { .m = m, .s = s, .out = calloc(s->n + 1, sizeof *k.out) };
	struct gpu_sets gpu;
	uint32_t n;
	const struct process *processes = model_processes(m, &n);
	int rc = gpu_sets_make(&gpu, m);

	for (size_t i = 0; i < s->n_kinds && k.out && rc == 0; i++)
		rc = add_kind(&k, i);
	for (size_t i = 0; i < s->n && k.out && rc == 0; i++)
		know(&k, &gpu, &processes[s->list[i].process], i);
	gpu_sets_release(&gpu);
	spans_release(&k.busy);
	if (rc == 0)
		return k.out;
	free(k.out);
	return NULL;
}
