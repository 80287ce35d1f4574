/* kernel_breakdown, kernel_breakdown_top10: GPU time of each rank by name. */
#include "cli/report/job/job.h"

#include "cli/model/map.h"
#include "trace/grow.h"

#include <stdlib.h>

#define TOP 10u

static const char *const class_words[GPU_WORKS] = { "compute", "communication", "memory", "memory", "whole graph" };

struct kernel {
	const char *name;
	const char *class;
	int64_t sum, min, max;
	uint64_t n;
};

struct kernels {
	struct map at;                  /* class << 32 | string id -> position in list */
	struct kernel *list;
	size_t n, cap;
	int64_t sum;
};

static void add_ns(struct kernel *k, int64_t ns)
{
	if (!k->n || ns < k->min)
		k->min = ns;
	if (!k->n || ns > k->max)
		k->max = ns;
	k->sum = time_add(k->sum, ns);
	k->n++;
}

static struct kernel *kernel_of(struct kernels *k, uint32_t class, uint32_t name, struct model *m, struct table *t)
{
	bool new;
	uint32_t *at = map_put(&k->at, (uint64_t)class << 32 | name, (uint32_t)k->n, &new);

	if (!at)
		return NULL;
	if (new && !GROW(k->list, k->n + 1, k->cap))
		return NULL;
	if (new)
		k->list[k->n++] = (struct kernel){ .name = table_keep(t, "%s", model_string(m, name)), .class = class_words[class] };
	return &k->list[*at - 1];
}

static int by_sum(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;
	int order = strcmp(x->class, y->class);

	if (order)
		return order;
	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int find(const struct job_rank *r, struct table *t, struct kernels *k)
{
	struct job_rows rows;
	int rc = job_gpu_rows(r, &rows);

	for (size_t i = 0; i < rows.n && rc == 0; i++) {
		const struct gpu_row *g = &rows.list[i];
		int64_t ns = time_sub(g->end, g->start);
		uint32_t name = gpu_row_timed(g) ? job_row_name_id(r->m, g) : STRING_NONE;
		struct kernel *one;

		if (!gpu_row_timed(g))
			continue;
		one = name == MAP_NONE ? NULL : kernel_of(k, g->class, name, r->m, t);
		if (!one) {
			rc = -1;
			break;
		}
		add_ns(one, ns);
		k->sum = time_add(k->sum, ns);
	}
	if (k->n)
		qsort(k->list, k->n, sizeof *k->list, by_sum);
	free(rows.list);
	return rc;
}

static void put_one(struct table *t, int64_t rank, const struct kernel *k, int64_t all)
{
	struct job_summary s = { .n = k->n, .sum = k->sum };

	table_row(t, (struct cell[]){ NUMBER(rank), TEXT(k->class), NUMBER(k->sum), job_pct(k->sum, all), NUMBER(k->n),
				      job_mean(&s, 0), NUMBER(k->min), NUMBER(k->max), TEXT(k->name) });
}

/* Prints the first `most` kernels of each class, and one row with the sum of the rest. */
static void put_all(struct table *t, int64_t rank, const struct kernels *k, size_t most)
{
	for (size_t i = 0, end; i < k->n; i = end) {
		struct kernel others = { .name = "others", .class = k->list[i].class };

		for (end = i; end < k->n && strcmp(k->list[end].class, k->list[i].class) == 0; end++) {
			const struct kernel *one = &k->list[end];

			if (end - i < most) {
				put_one(t, rank, one, k->sum);
				continue;
			}
			others.min = !others.n || one->min < others.min ? one->min : others.min;
			others.max = !others.n || one->max > others.max ? one->max : others.max;
			others.sum = time_add(others.sum, one->sum);
			others.n += one->n;
		}
		if (others.n)
			put_one(t, rank, &others, k->sum);
	}
}

static int breakdown(const struct job_rank *r, struct table *t, size_t most)
{
	struct kernels k = { 0 };
	int rc = find(r, t, &k);

	if (rc == 0)
		put_all(t, r->number, &k, most);
	if (rc == 0 && !k.n)
		table_note(t, "rank %lld has no GPU rows", (long long)r->number);
	free(k.list);
	map_release(&k.at);
	return rc;
}

static int put_every(const struct job *j, const struct job_rank *r, struct table *t)
{
	(void)j;
	return breakdown(r, t, SIZE_MAX);
}

static int put_top(const struct job *j, const struct job_rank *r, struct table *t)
{
	(void)j;
	return breakdown(r, t, TOP);
}

static int all_kernels(struct model *m, struct table *t, const struct report_choice *choice)
{
	return job_each(m, t, choice, put_every);
}

static int top_kernels(struct model *m, struct table *t, const struct report_choice *choice)
{
	return job_each(m, t, choice, put_top);
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "kernel_type", COLUMN_TEXT }, { "gpu_ns", 0 }, { "gpu_pct", 0 }, { "count", 0 }, { "mean_ns", 0 },
	{ "min_ns", 0 }, { "max_ns", 0 }, { "name", COLUMN_TEXT },
};

const struct report report_kernel_breakdown = {
	.name = "kernel_breakdown",
	.share = "gpu_pct: share of the time of all GPU rows of the rank",
	.title = "GPU Time by Kernel, Kind and Rank",
	.help = "Which kernels take the GPU time of each rank?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = all_kernels,
};

const struct report report_kernel_breakdown_top10 = {
	.name = "kernel_breakdown_top10",
	.share = "gpu_pct: share of the time of all GPU rows of the rank",
	.title = "GPU Time by Kernel, Kind and Rank: the Ten Largest of Each Kind",
	.help = "Which ten kernels of each kind take the most GPU time?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = top_kernels,
};
