/* The arithmetic of pandas and of HTA's helpers that the reports share. */
#include "cli/analyze/hta.h"

#include <math.h>
#include <stdlib.h>

size_t hta_merge(struct timed *intervals, size_t n)
{
	size_t out = 0;
	int64_t latest = INT64_MIN;     /* of all ends so far: a group that ends early does not end what is around it */

	for (size_t i = 0; i < n; i++) {
		struct timed one = intervals[i];

		if (out == 0 || one.time > latest)
			intervals[out++] = one;
		else if (one.end > intervals[out - 1].end)
			intervals[out - 1].end = one.end;
		if (one.end > latest)
			latest = one.end;
	}
	return out;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Doubles in the order of the whole numbers that their bits are: those below 0 the other way round. */
static int64_t ordered(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static void sort_values(double *values, size_t n)
{
	struct timed *list = n < 256 ? NULL : malloc(n * sizeof *list);

	for (size_t i = 0; list && i < n; i++) {
		memcpy(&list[i].time, &values[i], sizeof *values);
		list[i].time = ordered(list[i].time);
	}
	if (!list || timed_sort(list, n) < 0) {
		qsort(values, n, sizeof *values, by_value);
		free(list);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		list[i].time = ordered(list[i].time);
		memcpy(&values[i], &list[i].time, sizeof *values);
	}
	free(list);
}

/* Linear, as numpy's default. */
static double quantile(const double *sorted, size_t n, double part)
{
	double place = part * (double)(n - 1);
	size_t low = (size_t)place, high = low + 1 < n ? low + 1 : low;

	return sorted[low] + (sorted[high] - sorted[low]) * (place - (double)low);
}

struct hta_described hta_describe(double *values, size_t n)
{
	struct hta_described d = { n, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	double sum = 0, squares = 0;

	if (!n)
		return d;
	sort_values(values, n);
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	d.mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - d.mean) * (values[i] - d.mean);
	if (n > 1)
		d.std = sqrt(squares / (double)(n - 1));
	d.min = values[0];
	d.q1 = quantile(values, n, 0.25);
	d.median = quantile(values, n, 0.5);
	d.q3 = quantile(values, n, 0.75);
	d.max = values[n - 1];
	return d;
}

void hta_list_add(struct hta_list *l, double value)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;
		double *values = realloc(l->values, cap * sizeof *values);

		if (!values) {
			l->oom = true;
			return;
		}
		l->values = values;
		l->cap = cap;
	}
	l->values[l->n++] = value;
}

struct cell hta_us(int64_t ns)
{
	return ns % 1000 ? FIXED(ns, 3) : NUMBER(ns / 1000);
}

struct cell hta_real(double value, unsigned decimals)
{
	static const double scale[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };

	if (!isfinite(value) || fabs(value * scale[decimals]) > 9e18)
		return UNKNOWN;
	return FIXED((int64_t)llrint(value * scale[decimals]), decimals);
}

bool hta_rank_wanted(const struct report_choice *choice, int64_t rank)
{
	char word[32];

	if (!choice->variant || strncmp(choice->variant, "rank", 4) != 0)
		return true;
	snprintf(word, sizeof word, "rank%lld", (long long)rank);
	return strcmp(choice->variant, word) == 0;
}

int hta_json_begin(struct hta_json *j)
{
	*j = (struct hta_json){ .text = NULL };
	j->file = open_memstream(&j->text, &j->n);
	if (!j->file)
		return -1;
	if (out_init(&j->out, j->file) == 0)
		return 0;
	fclose(j->file);
	free(j->text);
	return -1;
}

char *hta_json_end(struct hta_json *j)
{
	int rc = out_finish(&j->out);

	if (fclose(j->file) == 0 && rc == 0)
		return j->text;
	free(j->text);
	return NULL;
}

int hta_corr_begin(struct hta_corr *c, const struct hta_rank *r)
{
	*c = (struct hta_corr){ .low = r->low };
	if (r->low > r->high || (uint64_t)(r->high - r->low) / 4 > r->n_file)
		return 0;       /* far apart: an array would be mostly empty */
	c->n = (uint64_t)(r->high - r->low) + 1;
	c->dense = calloc(c->n, sizeof *c->dense);
	return c->dense ? 0 : -1;
}

void hta_corr_release(struct hta_corr *c)
{
	free(c->dense);
	map_release(&c->map);
}

bool hta_corr_set_far(struct hta_corr *c, int64_t corr, uint32_t position)
{
	return map_set(&c->map, (uint64_t)corr, position);
}
