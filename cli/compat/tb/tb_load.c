/* Loads jobs from traces. */
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "trace/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 16u        /* devices looked at by is_amd() */

struct tb_run *tb_add_run(struct tb_job *job, struct model *m, const char *worker, int64_t rank)
{
	char *name = tb_worker_of(worker);

	if (!name || !GROW(job->runs, job->n + 1, job->cap)) {
		free(name);
		return NULL;
	}
	job->runs[job->n] = (struct tb_run){ .m = m, .worker = name, .rank = rank };
	return &job->runs[job->n++];
}

struct tb_event *tb_add(struct tb_run *r)
{
	if (!GROW(r->events, r->n + 1, r->cap)) {
		r->oom = true;
		return NULL;
	}
	return &r->events[r->n++];
}

int64_t tb_rank_of(struct model *m, uint32_t process)
{
	uint32_t n;
	const char *text = process_attribute(&model_processes(m, &n)[process], "rank");
	char *end;
	long rank = text ? strtol(text, &end, 10) : -1;

	return text && end != text && !*end ? rank : -1;
}

static int by_index(const void *a, const void *b)
{
	const struct tb_event *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Sorts events by start, at equal starts in file order: first restores file order, since events were added by process. */
static int sort(struct tb_run *r)
{
	struct timed *order = malloc((r->n + 1) * sizeof *order);
	struct tb_event *sorted = order ? malloc((r->n + 1) * sizeof *sorted) : NULL;
	int rc = sorted ? 0 : -1;

	for (size_t i = 1; rc == 0 && i < r->n; i++)
		if (r->events[i].index < r->events[i - 1].index) {
			qsort(r->events, r->n, sizeof *r->events, by_index);
			break;
		}
	for (size_t i = 0; rc == 0 && i < r->n; i++)
		order[i] = (struct timed){ .time = r->events[i].start, .row = (uint32_t)i };
	if (rc == 0)
		rc = timed_sort(order, r->n);
	for (size_t i = 0; rc == 0 && i < r->n; i++)
		sorted[i] = r->events[order[i].row];
	free(order);
	if (rc < 0) {
		free(sorted);
		return -1;
	}
	free(r->events);
	r->events = sorted;
	return 0;
}

static int by_worker(const void *a, const void *b)
{
	const struct tb_run *x = a, *y = b;
	int order = strcmp(x->worker, y->worker);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Whether the run has an AMD GPU: the plugin's list of tensor core kernels only has names of NVIDIA's. */
static bool is_amd(const struct tb_run *r)
{
	for (uint32_t id = 0; id < MOST_DEVICES; id++) {
		const struct device_row *d = model_device(r->m, r->first_process, id);

		if (d && strncmp(model_string(r->m, d->name), "AMD", 3) == 0)
			return true;
	}
	return false;
}

static struct tb_job *load(struct model *m, const struct report_choice *choice)
{
	struct tb_job *job = calloc(1, sizeof *job);
	struct model *const *models = choice->jobs ? choice->jobs->models : &m;
	size_t n = choice->jobs ? choice->jobs->n : 1;
	int rc = job ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = model_rows(models[i], ROW_imported) ? tb_imported_runs(job, models[i]) : tb_own_runs(job, models[i]);
	for (size_t i = 0; rc == 0 && i < job->n; i++) {
		job->runs[i].nameless = is_amd(&job->runs[i]);
		rc = job->runs[i].oom || sort(&job->runs[i]) < 0 || tb_time(&job->runs[i]) < 0 ? -1 : 0;
	}
	if (rc == 0) {
		if (job->n)
			qsort(job->runs, job->n, sizeof *job->runs, by_worker);
		return job;
	}
	tb_free(job);
	return NULL;
}

struct tb_job *tb_get(struct model *m, const struct report_choice *choice)
{
	struct tb_job *job = choice->jobs && choice->jobs->tb ? choice->jobs->tb : load(m, choice);

	if (choice->jobs)
		choice->jobs->tb = job;
	return job;
}

void tb_done(struct tb_job *job, const struct report_choice *choice)
{
	if (!choice->jobs)
		tb_free(job);
}

void tb_free(struct tb_job *job)
{
	for (size_t i = 0; job && i < job->n; i++) {
		struct tb_run *r = &job->runs[i];

		free((char *)r->worker);
		free(r->events);
		free(r->calls);
		free(r->steps);
		if (r->tree)
			tb_tree_release(r->tree);
		free(r->tree);
		for (unsigned k = 0; k < TB_ROLES; k++)
			spans_release(&r->roles[k]);
	}
	if (job)
		free(job->runs);
	free(job);
}

struct cell tb_percent(double part, double whole)
{
	return whole > 0 && isfinite(part) ? FIXED(tb_round(10000 * part / whole), 2) : UNKNOWN;
}

struct cell tb_rank(const struct tb_run *r)
{
	return r->rank >= 0 ? NUMBER(r->rank) : UNKNOWN;
}
