#include "cli/report/job/job.h"

#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/stats.h"
#include "cli/report/steps/step_stats.h"
#include "trace/grow.h"

#include <stdlib.h>

/* ---- ranks ---- */

/* The file of torch.profiler that a process was imported from; NULL: none. */
static const char *kineto_file(const struct process *p)
{
	const char *format = process_attribute(p, "imported");

	return format && strcmp(format, "kineto") == 0 ? process_attribute(p, "imported.file") : NULL;
}

static int64_t number_of(const struct process *p)
{
	const char *text = process_attribute(p, "rank");
	char *end;
	long rank = text ? strtol(text, &end, 10) : -1;

	return text && end != text && !*end ? rank : -1;
}

static int add_ranks(struct job *j, struct job_model *times)
{
	struct model *m = times->m;
	uint32_t n;
	const struct process *all = model_processes(m, &n);
	bool *is_rank = job_rank_processes(m);
	bool room = is_rank && GROW(j->list, j->n + n + 1, j->cap);
	const char *before = NULL;
	size_t first = j->n;

	for (uint32_t p = 1; room && p < n; p++) {
		const char *file = kineto_file(&all[p]);
		bool same = file && before && strcmp(file, before) == 0;        /* the processes of a file are adjacent */

		before = file;
		if (!(file || is_rank[p]) || !model_process_selected(m, p))
			continue;
		if (!same || j->n == first || j->list[j->n - 1].end != p) {
			j->list[j->n++] = (struct job_rank){ m, times, p, p + 1, number_of(&all[p]) };
			continue;
		}
		j->list[j->n - 1].end = p + 1;
		if (number_of(&all[p]) >= 0)
			j->list[j->n - 1].number = number_of(&all[p]);
	}
	free(is_rank);
	return room ? 0 : -1;
}

static int by_number(const void *a, const void *b)
{
	const struct job_rank *x = *(const struct job_rank *const *)a, *y = *(const struct job_rank *const *)b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x > y) - (x < y);
}

/* Gives ranks without a number the numbers 0, 1, ... in their order.  Sorts by number; equal numbers keep their order. */
static int number_ranks(struct job *j)
{
	struct job_rank **order = malloc((j->n + 1) * sizeof *order), *list = malloc((j->n + 1) * sizeof *list);
	int64_t next = 0;

	for (size_t i = 0; order && list && i < j->n; i++) {
		if (j->list[i].number < 0)
			j->list[i].number = next++;
		order[i] = &j->list[i];
	}
	if (!order || !list) {
		free(order);
		free(list);
		return -1;
	}
	qsort(order, j->n, sizeof *order, by_number);
	for (size_t i = 0; i < j->n; i++)
		list[i] = *order[i];
	free(order);
	free(j->list);
	j->list = list;
	j->cap = j->n + 1;
	return 0;
}

int job_begin(struct job *j, struct model *m, const struct report_choice *choice)
{
	struct model *const *models = choice->jobs ? choice->jobs->models : &m;
	size_t n = choice->jobs ? choice->jobs->n : 1;

	*j = (struct job){ .start = INT64_MAX, .models = calloc(n, sizeof *j->models) };
	if (!j->models)
		return -1;
	for (; j->n_models < n; j->n_models++) {
		j->models[j->n_models].m = models[j->n_models];
		if (add_ranks(j, &j->models[j->n_models]) < 0)
			return -1;
		if (model_start(models[j->n_models]) < j->start)
			j->start = model_start(models[j->n_models]);
	}
	return number_ranks(j);
}

void job_end(struct job *j)
{
	for (size_t i = 0; i < j->n_models; i++) {
		gpu_spans_free(j->models[i].m, j->models[i].spans);
		gpu_rows_free(j->models[i].m, j->models[i].rows);
	}
	free(j->models);
	free(j->list);
	*j = (struct job){ 0 };
}

int job_each(struct model *m, struct table *t, const struct report_choice *choice,
	     int (*fn)(const struct job *j, const struct job_rank *r, struct table *t))
{
	struct job j;
	int rc = job_begin(&j, m, choice);

	for (size_t i = 0; rc == 0 && i < j.n; i++)
		rc = fn(&j, &j.list[i], t);
	job_end(&j);
	return rc;
}

struct cell job_pct(int64_t part, int64_t whole)
{
	if (whole <= 0 || part < 0)
		return UNKNOWN;
	return FIXED(share((unsigned __int128)part, (unsigned __int128)whole), 1);
}

struct cell job_stream(const struct gpu_row *g)
{
	return g->stream == UINT32_MAX ? UNKNOWN : NUMBER(g->stream);
}

/* ---- summaries ---- */

bool job_values_add(struct job_values *v, int64_t value)
{
	if (!GROW(v->list, v->n + 1, v->cap))
		return false;
	v->list[v->n++] = value;
	return true;
}

void job_values_release(struct job_values *v)
{
	free(v->list);
	*v = (struct job_values){ 0 };
}

struct job_summary job_summary_of(struct job_values *v)
{
	struct job_summary s = { .n = v->n };

	if (!v->n)
		return s;
	s.median = percentile_of(v->list, v->n, 50);
	s.p95 = percentile(v->list, v->n, 95);
	s.min = v->list[0];
	s.max = v->list[v->n - 1];
	for (size_t i = 0; i < v->n; i++)
		s.sum = time_add(s.sum, v->list[i]);
	return s;
}
