#include "cli/analyze/job_launch.h"

#include "cli/model/join.h"
#include "cli/model/map.h"

#include <stdlib.h>

/* A GPU row is before the first so far: earlier, or of a kind that comes before, or further ahead in the trace. */
static bool before(const struct gpu_row *a, const struct gpu_row *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->kind != b->kind ? a->kind < b->kind : a->row < b->row;
}

static int by_call(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;

	return (x->call_row > y->call_row) - (x->call_row < y->call_row);
}

/* The launch that a row belongs to, new if need be. */
static int add(struct launches *l, struct map *of_call, const struct gpu_row *g, size_t call, const int64_t *start,
	       const int64_t *duration)
{
	bool new;
	uint32_t *at = map_put(of_call, call, (uint32_t)l->n, &new);
	struct launch *one;

	if (!at)
		return -1;
	one = &l->list[*at - 1];
	if (new) {
		*one = (struct launch){ start[call], duration[call], 0, call, 0, *g };
		l->n++;
	} else if (before(g, &one->first)) {
		one->first = *g;
	}
	one->rows++;
	one->gpu_ns = time_add(one->gpu_ns, time_sub(g->end, g->start));
	return 0;
}

int job_launches(const struct job_rank *r, struct launches *l)
{
	const int64_t *start = MODEL_I64(r->m, api, start), *duration = MODEL_I64(r->m, api, duration);
	struct map of_call = { 0 };
	struct job_rows rows;
	int rc = job_gpu_rows(r, &rows);

	*l = (struct launches){ .list = rc == 0 ? malloc((rows.n + 1) * sizeof *l->list) : NULL };
	if (!l->list || !start || !duration || model_join(r->m) < 0)
		rc = -1;
	for (size_t i = 0; i < rows.n && rc == 0; i++) {
		const struct gpu_row *g = &rows.list[i];
		size_t call = gpu_row_timed(g) ? model_api_of(r->m, g->process, g->corr) : NO_ROW;

		if (call != NO_ROW)
			rc = add(l, &of_call, g, call, start, duration);
		else
			l->without += gpu_row_timed(g);
	}
	if (rc == 0 && l->n)
		qsort(l->list, l->n, sizeof *l->list, by_call);
	map_release(&of_call);
	free(rows.list);
	return rc;
}

int64_t launch_delay(const struct launch *l)
{
	int64_t delay = time_sub(l->first.start, time_add(l->call, l->call_ns));

	return delay > 0 ? delay : 0;
}

void launches_note(struct table *t, const struct job_rank *r, const struct launches *l)
{
	if (l->without)
		table_note(t, "rank %lld: the call of %zu GPU %s was not recorded; they are not in this table", (long long)r->number,
			   l->without, l->without == 1 ? "row" : "rows");
	else if (!l->n)
		table_note(t, "rank %lld has no GPU rows", (long long)r->number);
}
