#include "cli/report/parts/gpu_times.h"

#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdlib.h>

int gpu_sets_make(struct gpu_sets *s, struct model *m)
{
	*s = (struct gpu_sets){ .m = m };
	model_processes(m, &s->n);
	s->exposed = calloc(s->n + 1, sizeof *s->exposed);
	s->rows = s->exposed ? model_gpu_rows(m) : NULL;
	if (!s->rows)
		return -1;
	for (uint32_t p = 0; p < s->n; p++)
		if (spans_subtract(&s->rows[p].work[GPU_COMM], &s->rows[p].work[GPU_COMPUTE], &s->exposed[p]) < 0)
			return -1;
	return 0;
}

void gpu_sets_release(struct gpu_sets *s)
{
	for (uint32_t p = 0; s->exposed && p < s->n; p++)
		spans_release(&s->exposed[p]);
	free(s->exposed);
	gpu_rows_free(s->m, s->rows);
	*s = (struct gpu_sets){ 0 };
}

int64_t gpu_idle_within(const struct gpu_sets *s, uint32_t process, int64_t from, int64_t to)
{
	const struct gpu_rows *r = &s->rows[process];

	return r->first ? time_sub(time_sub(to, from), spans_within(&r->busy, from, to)) : 0;
}

struct gpu_times gpu_times_within(const struct gpu_sets *s, uint32_t process, int64_t from, int64_t to)
{
	const struct gpu_rows *r = &s->rows[process];
	struct gpu_times t = { .known = r->first };

	if (!t.known)
		return t;
	t.parts = !spans_within(&r->work[GPU_GRAPHS], from, to);
	t.busy = spans_within(&r->busy, from, to);
	t.idle = time_sub(time_sub(to, from), t.busy);
	t.compute = spans_within(&r->work[GPU_COMPUTE], from, to);
	t.comm = spans_within(&r->work[GPU_COMM], from, to);
	t.exposed = spans_within(&s->exposed[process], from, to);
	t.memcpy = spans_within(&r->work[GPU_COPIES], from, to);
	t.memset = spans_within(&r->work[GPU_SETS], from, to);
	return t;
}

void gpu_times_add(struct gpu_times *sum, const struct gpu_times *b)
{
	sum->parts = b->parts && (sum->parts || !sum->known);
	sum->known |= b->known;
	sum->busy = time_add(sum->busy, b->busy);
	sum->idle = time_add(sum->idle, b->idle);
	sum->compute = time_add(sum->compute, b->compute);
	sum->comm = time_add(sum->comm, b->comm);
	sum->exposed = time_add(sum->exposed, b->exposed);
	sum->memcpy = time_add(sum->memcpy, b->memcpy);
	sum->memset = time_add(sum->memset, b->memset);
}
