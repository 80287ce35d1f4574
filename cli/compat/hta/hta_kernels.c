/* Time of kernels by class and name, and of annotations by name (hta/analyzers/breakdown_analysis.py, _aggr_gpu_kernel_time). */
#include "cli/compat/hta/hta.h"

#include <math.h>
#include <stdlib.h>

#include "trace/grow.h"

#define ALL_NAMES   SIZE_MAX
#define TOP_KERNELS 10u         /* HTA's num_kernels */
#define TOP_RANGES  1000u       /* HTA's limit for annotations */
#define DURATION_RATIO 0.8

struct name_sum {
	const char *text;
	uint64_t n;
	int64_t sum, max, min;
	double mean, m2;        /* running mean and sum of squared deviations (Welford), us: a sum of squares would overflow */
};

struct name_sums {
	struct name_sum *list;
	size_t n, cap;
	struct map by_name;
	bool oom;
};

static void add_duration(struct name_sum *s, int64_t value)
{
	double us = (double)value / 1000.0, off = us - s->mean;

	if (!s->n || value > s->max)
		s->max = value;
	if (!s->n || value < s->min)
		s->min = value;
	s->sum = time_add(s->sum, value);
	s->n++;
	s->mean += off / (double)s->n;
	s->m2 += off * (us - s->mean);
}

static void add_named(struct name_sums *s, const struct hta *h, uint32_t name, int64_t value)
{
	bool new = false;
	uint32_t *at = map_put(&s->by_name, name, (uint32_t)s->n, &new);

	if (!at || (new && !GROW(s->list, s->n + 1, s->cap))) {
		s->oom = true;
		return;
	}
	if (new)
		s->list[s->n++] = (struct name_sum){ .text = h->names[name].text };
	add_duration(&s->list[*at - 1], value);
}

static int by_sum(const void *a, const void *b)
{
	const struct name_sum *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return strcmp(x->text, y->text);
}

/*
 * With more names than `most`, merges into "others": names after the first `most`, and names at which the running sum is above the
 * 0.8-quantile of the running sums.  As in HTA, the statistics are then over the sums: max, min and mean of a name are its sum.
 */
static int fold(struct name_sums *s, size_t most)
{
	struct name_sum others = { .text = "others" };
	double *running, *sorted, limit;
	size_t kept = 0;

	if (s->n <= most)
		return 0;
	running = malloc(2 * s->n * sizeof *running);
	if (!running)
		return -1;
	sorted = running + s->n;
	for (size_t i = 0; i < s->n; i++)
		running[i] = (i ? running[i - 1] : 0) + (double)s->list[i].sum / 1000.0;
	memcpy(sorted, running, s->n * sizeof *sorted);
	limit = hta_quantile(sorted, s->n, DURATION_RATIO);     /* sorts: running sums fall at negative times */
	for (size_t i = 0; i < s->n; i++) {
		struct name_sum one = { .text = s->list[i].text };

		/* As in HTA, a name with a sum below 0 is always kept. */
		if ((running[i] > limit || i >= most) && s->list[i].sum >= 0) {
			add_duration(&others, s->list[i].sum);
			continue;
		}
		add_duration(&one, s->list[i].sum);
		s->list[kept++] = one;
	}
	s->n = kept;
	if (others.n)
		s->list[s->n++] = others;
	free(running);
	return 0;
}

static double deviation(const struct name_sum *s)
{
	return s->n > 1 ? sqrt(s->m2 / (double)(s->n - 1)) : 0;
}

static int finish(struct name_sums *s, size_t most)
{
	if (s->oom)
		return -1;
	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, by_sum);
	return fold(s, most);
}

static void release(struct name_sums *s)
{
	free(s->list);
	map_release(&s->by_name);
}

/* class: NULL when the table has no such column. */
static void print(struct table *t, const struct name_sums *s, const char *class, int64_t rank)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct name_sum *one = &s->list[i];
		struct cell cells[8] = {
			TEXT(one->text), hta_us(one->sum),
			hta_us(one->max), hta_us(one->min), hta_real(deviation(one), 6), hta_real(one->mean, 6),
		};

		cells[6] = class ? TEXT(class) : NUMBER(rank);
		cells[7] = NUMBER(rank);
		table_row(t, cells);
	}
}

/* ---- kernels ---- */

static int kernels_of(const struct hta *h, const struct hta_rank *r, enum hta_class class, size_t most, struct table *t)
{
	struct name_sums s = { 0 };
	int rc;

	for (size_t i = 0; i < r->n_gpu; i++) {
		const struct hta_row *row = hta_row(r, r->gpu[i]);

		if (h->names[row->name].class == class)
			add_named(&s, h, row->name, row->dur);
	}
	rc = finish(&s, most);
	if (rc == 0)
		print(t, &s, hta_class_words[class], r->rank);
	release(&s);
	return rc;
}

static int kernels(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how, size_t most)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (unsigned class = 0; class < HTA_OTHER; class++)
		for (size_t k = 0; rc == 0 && k < h->n_ranks; k++)
			rc = kernels_of(h, &h->ranks[k], class, most, t);
	hta_done(h, t, choice);
	return rc;
}

static int all_kernels(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return kernels(m, t, choice, how, ALL_NAMES);
}

static int top_kernels(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return kernels(m, t, choice, how, TOP_KERNELS);
}

static const struct heading kernel_columns[] = {
	{ "name", COLUMN_TEXT }, { "sum (us)", 0 }, { "max (us)", 0 }, { "min (us)", 0 }, { "stddev", 0 }, { "mean (us)", 0 },
	{ "kernel_type", COLUMN_TEXT }, { "rank", COLUMN_ID },
};

HTA_TWIN(hta_kernel_breakdown_all, all_kernels, kernel_columns, NULL, "GPU Time by Kernel and Rank",
	 "GPU time by kernel, class and rank");
HTA_TWIN(hta_kernel_breakdown_top10, top_kernels, kernel_columns, NULL,
	 "GPU Time by Kernel and Rank, the Largest", "GPU time of the ten largest kernels of each class and rank; the rest is one row");

/* ---- annotations ---- */

static int annotations(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how,
		       enum hta_category category)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		const struct hta_rank *r = &h->ranks[k];
		struct name_sums s = { 0 };

		for (size_t i = 0; i < r->n; i++) {
			const struct hta_row *row = hta_row(r, i);

			if (row->category == category)
				add_named(&s, h, row->name, row->dur);
		}
		rc = finish(&s, TOP_RANGES);
		if (rc == 0)
			print(t, &s, NULL, r->rank);
		release(&s);
	}
	hta_done(h, t, choice);
	return rc;
}

static int on_gpu(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return annotations(m, t, choice, how, HTA_GPU_ANNOTATION);
}

static int on_cpu(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return annotations(m, t, choice, how, HTA_ANNOTATION);
}

static const struct heading annotation_columns[] = {
	{ "name", COLUMN_TEXT }, { "sum (us)", 0 }, { "max (us)", 0 }, { "min (us)", 0 }, { "stddev", 0 }, { "mean (us)", 0 },
	{ "rank", COLUMN_ID },
};

HTA_TWIN(hta_gpu_user_annotation_breakdown, on_gpu, annotation_columns, NULL,
	 "Time in Annotations on the GPU, by Rank", "time in the program's annotations on the GPU");
HTA_TWIN(hta_cpu_user_annotation_breakdown, on_cpu, annotation_columns, NULL,
	 "Time in Annotations on the Host, by Rank", "time in the program's annotations on the host");
