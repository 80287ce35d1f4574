#include "cli/report/job/job_launch.h"

#include "cli/model/join.h"

#include <stdlib.h>

/* Order of the GPU rows of a launch: by start, then by kind, then in the trace's order. */
static bool before(const struct gpu_row *a, const struct gpu_row *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->kind != b->kind ? a->kind < b->kind : a->row < b->row;
}

/* State of job_launches(). */
struct launch_finding {
	struct model *m;
	struct launches *l;
	const int64_t *start, *duration;        /* columns of calls */
	uint32_t *of_call;                      /* by call: position of its launch + 1; 0: not a launch */
};

static size_t call_of(const struct launch_finding *f, const struct gpu_row *g)
{
	return gpu_row_timed(g) ? model_api_of(f->m, g->process, g->corr) : NO_ROW;
}

static int count(const struct gpu_row *g, void *arg)
{
	struct launch_finding *f = arg;
	size_t call = call_of(f, g);

	if (call == NO_ROW) {
		f->l->without += gpu_row_timed(g);
	} else if (!f->of_call[call]) {
		f->of_call[call] = 1;
		f->l->n++;
	}
	return 0;
}

/* Allocates the launches, in the order of their calls, without their GPU rows.  Returns 0, or -1 when out of memory. */
static int make_room(struct launch_finding *f)
{
	uint32_t n = 0;

	f->l->list = calloc(f->l->n + 1, sizeof *f->l->list);
	for (size_t i = 0; f->l->list && i < model_rows(f->m, ROW_api); i++) {
		if (!f->of_call[i])
			continue;
		f->l->list[n] = (struct launch){ .call = f->start[i], .call_ns = f->duration[i], .call_row = i };
		f->of_call[i] = ++n;
	}
	return f->l->list ? 0 : -1;
}

static int add_gpu_row(const struct gpu_row *g, void *arg)
{
	struct launch_finding *f = arg;
	size_t call = call_of(f, g);
	struct launch *l;

	if (call == NO_ROW)
		return 0;
	l = &f->l->list[f->of_call[call] - 1];
	if (!l->rows || before(g, &l->first))
		l->first = *g;
	l->rows++;
	l->gpu_ns = time_add(l->gpu_ns, time_sub(g->end, g->start));
	return 0;
}

int job_launches(const struct job_rank *r, struct launches *l)
{
	struct launch_finding f = { r->m, l, MODEL_I64(r->m, api, start), MODEL_I64(r->m, api, duration), NULL };
	int rc = -1;

	*l = (struct launches){ 0 };
	if (f.start && f.duration && model_join(r->m) == 0)
		f.of_call = calloc(model_rows(r->m, ROW_api) + 1, sizeof *f.of_call);
	if (f.of_call)
		rc = job_each_gpu_row(r, count, &f);
	if (rc == 0)
		rc = make_room(&f);
	if (rc == 0)
		rc = job_each_gpu_row(r, add_gpu_row, &f);
	free(f.of_call);
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
