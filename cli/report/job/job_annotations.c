/* gpu_annotations, cpu_annotations: time in the program's annotations, by name. */
#include "cli/compat/hta/hta.h"

#include "cli/report/job/job.h"

#include <stdlib.h>

struct annotation {
	const char *name;
	int64_t sum, min, max;
	uint64_t n;
};

static int by_sum(const void *a, const void *b)
{
	const struct annotation *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void put_annotations(struct table *t, int64_t rank, struct annotation *list, size_t n)
{
	if (n)
		qsort(list, n, sizeof *list, by_sum);
	for (size_t i = 0; i < n; i++) {
		const struct annotation *a = &list[i];
		struct job_summary s = { .n = a->n, .sum = a->sum };

		table_row(t, (struct cell[]){ NUMBER(rank), NUMBER(a->sum), NUMBER(a->n), job_mean(&s, 0), NUMBER(a->min),
					      NUMBER(a->max), TEXT(table_keep(t, "%s", a->name)) });
	}
}

/* Sums up the annotations of a rank by name, and prints them. */
static int sum_up(const struct hta *h, const struct hta_rank *r, enum hta_category category, struct table *t)
{
	struct annotation *list = calloc(h->n_names + 1, sizeof *list);
	size_t n = 0;

	if (!list)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);
		struct annotation *a = &list[row->name];

		if (row->category != category)
			continue;
		a->min = !a->n || row->dur < a->min ? row->dur : a->min;
		a->max = !a->n || row->dur > a->max ? row->dur : a->max;
		a->sum = time_add(a->sum, row->dur);
		a->n++;
	}
	for (size_t i = 0; i < h->n_names; i++) {
		list[n] = list[i];
		list[n].name = h->names[i].text;
		n += list[n].n > 0;
	}
	put_annotations(t, r->rank, list, n);
	free(list);
	return 0;
}

static int annotations(struct model *m, struct table *t, const struct report_choice *choice, enum hta_category category)
{
	struct hta *h = hta_get(m, choice, HTA_HONEST);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++)
		rc = sum_up(h, &h->ranks[k], category, t);
	if (rc == 0 && !t->n_rows)
		table_note(t, category == HTA_ANNOTATION ? "no annotations of the program were recorded"
							 : "the trace has no annotations on a GPU; only files of torch.profiler have them");
	hta_done(h, t, choice);
	return rc;
}

static int on_gpu(struct model *m, struct table *t, const struct report_choice *choice)
{
	return annotations(m, t, choice, HTA_GPU_ANNOTATION);
}

static int on_host(struct model *m, struct table *t, const struct report_choice *choice)
{
	return annotations(m, t, choice, HTA_ANNOTATION);
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "total_ns", 0 }, { "count", 0 }, { "mean_ns", 0 }, { "min_ns", 0 }, { "max_ns", 0 },
	{ "name", COLUMN_TEXT },
};

const struct report report_gpu_annotations = {
	.name = "gpu_annotations",
	.title = "Time in Annotations on the GPU, by Rank",
	.help = "How much time do the program's annotations cover on the GPU?",
	.needs = NEED_GPU_RANGES,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = on_gpu,
};

const struct report report_cpu_annotations = {
	.name = "cpu_annotations",
	.title = "Time in Annotations on the Host, by Rank",
	.help = "How much time do the program's annotations cover on the host?",
	.needs = NEED_RANGES,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = on_host,
};
