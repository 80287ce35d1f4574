/* The GPU rows of a rank. */
#include "cli/report/job/job.h"

#include "cli/model/gpu/kernel_class.h"
#include "cli/model/map.h"
#include "trace/grow.h"

#include <stdlib.h>

#define KINDS 4u

static const struct kind {
	unsigned kind;
	unsigned start, duration, corr, device, stream;
	enum gpu_work class;
} kinds[KINDS] = {
#define KIND(rec, class)                                                                                               \
	{ ROW_##rec, COL_##rec##_start, COL_##rec##_duration, COL_##rec##_corr, COL_##rec##_device, COL_##rec##_stream, class }
	KIND(kernel, GPU_COMPUTE), KIND(memcpy, GPU_COPIES), KIND(memset, GPU_SETS), KIND(graph, GPU_GRAPHS),
#undef KIND
};

/* The first row of process `of` or a later one; rows are sorted by process. */
static size_t first_row(const uint32_t *process, size_t n, uint32_t of)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process[middle] < of)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Cache: whether a kernel communicates, by string id of its name. */
struct comm_names {
	struct model *m;
	struct map communicates;
};

static int class_of(struct comm_names *names, uint32_t name, uint32_t *class)
{
	bool new;
	uint32_t *at = map_put(&names->communicates, name, 0, &new);

	if (!at)
		return -1;
	if (new)
		*at = (uint32_t)model_kernel_communicates(names->m, name) + 1;
	*class = *at > 1 ? GPU_COMM : GPU_COMPUTE;
	return 0;
}

typedef int row_fn(const struct gpu_row *g, void *arg);

static int each_of_kind(const struct job_rank *r, const struct kind *k, struct comm_names *names, row_fn *fn, void *arg)
{
	struct model *m = r->m;
	const int64_t *start = model_column(m, k->kind, k->start), *duration = model_column(m, k->kind, k->duration);
	const uint32_t *corr = model_column(m, k->kind, k->corr), *device = model_column(m, k->kind, k->device),
		       *stream = model_column(m, k->kind, k->stream), *process = model_row_process(m, k->kind),
		       *name = k->kind == ROW_kernel ? MODEL_U32(m, kernel, name) : NULL;
	size_t end;
	int rc = 0;

	if (!start || !duration || !corr || !device || !stream || !process || (k->kind == ROW_kernel && !name))
		return -1;
	end = first_row(process, model_rows(m, k->kind), r->end);
	for (size_t i = first_row(process, model_rows(m, k->kind), r->first); i < end && rc == 0; i++) {
		bool timed = start[i] && duration[i] >= 0;
		struct gpu_row g = { timed ? start[i] : 0, timed ? time_add(start[i], duration[i]) : -1, i, k->kind, process[i],
				     corr[i], device[i], stream[i], k->class };

		if (name && class_of(names, name[i], &g.class) < 0)
			return -1;
		rc = fn(&g, arg);
	}
	return rc;
}

int job_each_gpu_row(const struct job_rank *r, row_fn *fn, void *arg)
{
	struct comm_names names = { .m = r->m };
	int rc = 0;

	for (size_t k = 0; k < KINDS && rc == 0; k++)
		rc = each_of_kind(r, &kinds[k], &names, fn, arg);
	map_release(&names.communicates);
	return rc;
}

static int add_row(const struct gpu_row *g, void *arg)
{
	struct job_rows *rows = arg;

	if (!GROW(rows->list, rows->n + 1, rows->cap))
		return -1;
	rows->list[rows->n++] = *g;
	return 0;
}

int job_gpu_rows(const struct job_rank *r, struct job_rows *rows)
{
	*rows = (struct job_rows){ 0 };
	return job_each_gpu_row(r, add_row, rows);
}

bool gpu_same_stream(const struct gpu_row *a, const struct gpu_row *b)
{
	return a->process == b->process && a->device == b->device && a->stream == b->stream;
}

static int by_stream(const void *a, const void *b)
{
	const struct gpu_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->kind != y->kind)         /* kinds[] is in the order of these numbers */
		return x->kind < y->kind ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

_Static_assert(ROW_kernel < ROW_memcpy && ROW_memcpy < ROW_memset && ROW_memset < ROW_graph, "by_stream() goes by them");

void job_rows_by_stream(struct job_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (gpu_row_timed(&rows->list[i]))
			rows->list[n++] = rows->list[i];
	rows->n = n;
	if (n)
		qsort(rows->list, n, sizeof *rows->list, by_stream);
}

/* ---- times ---- */

/* Makes *to the union of both sets.  Returns 0, or -1 when out of memory. */
static int add_set(struct spans *to, const struct spans *from)
{
	for (size_t i = 0; i < from->n; i++)
		spans_add(to, from->list[i].time, from->list[i].end);
	return to->oom || spans_union(to) < 0 ? -1 : 0;
}

int job_gpu_times(const struct job_rank *r, struct job_times *g)
{
	struct job_model *t = r->times;
	int rc = 0;

	*g = (struct job_times){ 0 };
	if (!t->rows)
		t->rows = model_gpu_rows_in_span(t->m, &t->spans);
	if (!t->rows)
		return -1;
	for (uint32_t p = r->first; p < r->end && rc == 0; p++) {
		g->rows += t->rows[p].rows;
		g->untimed += t->rows[p].untimed;
		rc = add_set(&g->span, &t->spans[p]) < 0 || add_set(&g->all, &t->rows[p].busy) < 0 ? -1 : 0;
		for (unsigned w = 0; w < GPU_WORKS && rc == 0; w++)
			rc = add_set(&g->of[w], &t->rows[p].work[w]);
	}
	return rc;
}

void job_times_release(struct job_times *g)
{
	spans_release(&g->span);
	spans_release(&g->all);
	for (unsigned c = 0; c < GPU_WORKS; c++)
		spans_release(&g->of[c]);
}

void job_note_no_gpu(struct table *t, const struct job_rank *r, const struct job_times *g)
{
	if (g->rows)
		table_note(t, "rank %lld: no GPU row has a time", (long long)r->number);
	else
		table_note(t, "rank %lld has no GPU rows", (long long)r->number);
}
