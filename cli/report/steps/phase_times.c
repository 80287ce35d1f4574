#include "cli/report/steps/phase_times.h"

#include "cli/model/join.h"
#include "cli/model/model.h"
#include "cli/model/spans.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"

#include <stdlib.h>

#define GPU_KINDS 4u

static const struct {
	unsigned kind, start, duration, corr;
} gpu_kinds[GPU_KINDS] = {
	{ ROW_kernel, COL_kernel_start, COL_kernel_duration, COL_kernel_corr },
	{ ROW_memcpy, COL_memcpy_start, COL_memcpy_duration, COL_memcpy_corr },
	{ ROW_memset, COL_memset_start, COL_memset_duration, COL_memset_corr },
	{ ROW_graph, COL_graph_start, COL_graph_duration, COL_graph_corr },
};

struct gpu_columns {
	const int64_t *start, *duration;
	const uint32_t *corr, *process;
};

struct phase_times_builder {
	struct model *m;
	const struct steps *s;
	const struct phases *phases;    /* by process */
	struct phase_times *out;
	struct gpu_columns rows[GPU_KINDS];
	const int64_t *call_start;
	struct gpu_sets gpu;
};

/* ---- the host's side ---- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Length of the part of from .. to that is in a list of spans, ordered and disjoint. */
static int64_t covered(const struct phase_span *list, size_t n, int64_t from, int64_t to)
{
	int64_t sum = 0;

	for (size_t i = phases_first_after(list, n, from); i < n && list[i].start < to; i++)
		sum = time_add(sum, time_sub(sooner(list[i].end, to), later(list[i].start, from)));
	return sum;
}

/* Adds from .. to, a part of a phase.  computed: as in struct phase_span. */
static void add_span(struct phase_times_builder *k, const struct step *step, struct phase_times *t, int64_t from, int64_t to,
		     int64_t computed, enum phase phase)
{
	const struct phases *p = &k->phases[step->process];

	if (from >= to)
		return;
	t->host[phase] = time_add(t->host[phase], time_sub(to, from));
	t->idle[phase] = time_add(t->idle[phase], gpu_idle_within(&k->gpu, step->process, from, to));
	if (phase == PHASE_BACKWARD)
		t->comm_host_exposed = time_sub(t->comm_host_exposed, covered(p->comm, p->n_comm, from, sooner(to, computed)));
}

static void add_step(struct phase_times_builder *k, const struct step *step, struct phase_times *t)
{
	const struct phases *p = &k->phases[step->process];
	int64_t at = step->start;

	t->wall = time_sub(step->end, step->start);
	t->gpu = gpu_times_within(&k->gpu, step->process, step->start, step->end);
	t->comm_host = t->comm_host_exposed = covered(p->comm, p->n_comm, step->start, step->end);
	for (size_t i = phases_first_after(p->list, p->n, step->start); i < p->n && p->list[i].start < step->end; i++) {
		int64_t from = later(p->list[i].start, at), to = sooner(p->list[i].end, step->end);

		add_span(k, step, t, at, from, from, PHASE_OTHER);
		add_span(k, step, t, from, to, p->list[i].computed, p->list[i].phase);
		at = to;
	}
	add_span(k, step, t, at, step->end, step->end, PHASE_OTHER);
}

/* ---- the GPU's ---- */

static int columns_read(struct phase_times_builder *k)
{
	for (unsigned i = 0; i < GPU_KINDS; i++) {
		struct gpu_columns *g = &k->rows[i];

		if (!(g->start = model_column(k->m, gpu_kinds[i].kind, gpu_kinds[i].start)) ||
		    !(g->duration = model_column(k->m, gpu_kinds[i].kind, gpu_kinds[i].duration)) ||
		    !(g->corr = model_column(k->m, gpu_kinds[i].kind, gpu_kinds[i].corr)) ||
		    !(g->process = model_row_process(k->m, gpu_kinds[i].kind)))
			return -1;
	}
	return 0;
}

/* The phase in which the call with this correlation id was made; -1: the call was not recorded. */
static int phase_of(struct phase_times_builder *k, uint32_t process, uint32_t corr)
{
	size_t call = model_api_of(k->m, process, corr);
	const struct phases *p = &k->phases[process];
	size_t i;

	if (call == NO_ROW)
		return -1;
	i = phases_first_after(p->list, p->n, k->call_start[call]);
	return i < p->n && p->list[i].start <= k->call_start[call] ? (int)p->list[i].phase : PHASE_OTHER;
}

/* Lists the GPU rows of one kind launched in the steps of a kind; .time is position of the step * PHASES + phase. */
static int add_launched(struct phase_times_builder *k, size_t step_kind, unsigned which, struct timed *list, size_t *n)
{
	int32_t *of = model_row_steps(k->m, gpu_kinds[which].kind, step_kind);
	const struct gpu_columns *g = &k->rows[which];

	for (size_t row = 0, rows = model_rows(k->m, gpu_kinds[which].kind); of && row < rows; row++) {
		int phase = of[row] < 0 || !g->start[row] || g->duration[row] < 0
			? -1 : phase_of(k, g->process[row], g->corr[row]);

		if (phase >= 0)
			list[(*n)++] = (struct timed){
				.time = (int64_t)of[row] * PHASES + phase, .kind = which, .row = (uint32_t)row
			};
	}
	free(of);
	return of ? 0 : -1;
}

static int add_kind(struct phase_times_builder *k, size_t step_kind)
{
	struct spans busy = { 0 };
	struct timed *list;
	size_t n = 0, to;
	int rc = 0;

	for (unsigned i = 0; i < GPU_KINDS; i++)
		n += model_rows(k->m, gpu_kinds[i].kind);
	list = malloc(n * sizeof *list + 1);
	n = 0;
	for (unsigned i = 0; i < GPU_KINDS && rc == 0; i++)
		rc = list ? add_launched(k, step_kind, i, list, &n) : -1;
	if (rc == 0)
		rc = timed_sort(list, n);
	for (size_t from = 0; from < n && rc == 0; from = to) {
		struct phase_times *t = &k->out[list[from].time / PHASES];
		size_t phase = (size_t)(list[from].time % PHASES);

		spans_clear(&busy);
		for (to = from; to < n && list[to].time == list[from].time; to++) {
			const struct gpu_columns *g = &k->rows[list[to].kind];
			uint32_t row = list[to].row;

			spans_add(&busy, g->start[row], time_add(g->start[row], g->duration[row]));
		}
		t->launched[phase] = true;
		t->launched_busy[phase] = spans_union(&busy);
		rc = busy.oom ? -1 : 0;
	}
	spans_release(&busy);
	free(list);
	return rc;
}

struct phase_times *phase_times_make(struct model *m, const struct steps *s)
{
	struct phase_times_builder k = { .m = m, .s = s, .phases = model_phases(m) };
	int rc = gpu_sets_make(&k.gpu, m);

	k.out = calloc(s->n + 1, sizeof *k.out);
	k.call_start = MODEL_I64(m, api, start);
	if (!k.out || !k.phases || !k.call_start || model_join(m) < 0 || columns_read(&k) < 0)
		rc = -1;
	for (size_t i = 0; i < s->n && rc == 0; i++)
		add_step(&k, &s->list[i], &k.out[i]);
	for (size_t i = 0; i < s->n_kinds && rc == 0; i++)
		rc = add_kind(&k, i);
	gpu_sets_release(&k.gpu);
	if (rc == 0)
		return k.out;
	free(k.out);
	return NULL;
}
