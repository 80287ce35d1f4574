/* Arithmetic of pandas, numpy and HTA's helpers that several reports use. */
#include "cli/compat/hta/hta.h"

#include <math.h>
#include <stdlib.h>

#include "trace/grow.h"

void hta_merge(struct hta_intervals *to, struct timed one)
{
	bool first = to->n == 0;

	if (first || one.time > to->latest)
		to->list[to->n++] = one;
	else if (one.end > to->list[to->n - 1].end)
		to->list[to->n - 1].end = one.end;
	if (first || one.end > to->latest)
		to->latest = one.end;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Maps the bits of a double to an integer with the same order: bits of negative doubles are flipped. */
static int64_t ordered(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

/* Counting sort, for whole numbers that lie close together.  Returns false, values unchanged, for other numbers or when out of memory. */
static bool sort_counted(double *values, size_t n)
{
	double low = values[0], high = values[0];
	uint32_t *counts;
	size_t at = 0;

	for (size_t i = 1; i < n; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	if (!(low > -1e9 && high < 1e9 && high - low < (double)n))
		return false;
	counts = calloc((size_t)(high - low) + 2, sizeof *counts);
	for (size_t i = 0; i < n && counts; i++) {
		double off = values[i] - low;

		if ((double)(size_t)off != off || (double)(int64_t)low != low) {
			free(counts);
			return false;
		}
		counts[(size_t)off]++;
	}
	for (size_t k = 0; counts && at < n; k++)
		for (uint32_t c = 0; c < counts[k]; c++)
			values[at++] = low + (double)k;
	free(counts);
	return counts != NULL;
}

static void sort_values(double *values, size_t n)
{
	struct timed *list;

	if (n >= 256 && sort_counted(values, n))
		return;
	list = n < 256 ? NULL : malloc(n * sizeof *list);

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

/* Linear interpolation, numpy's default. */
static double quantile(const double *sorted, size_t n, double part)
{
	double place = part * (double)(n - 1);
	size_t low = (size_t)place, high = low + 1 < n ? low + 1 : low;

	return sorted[low] + (sorted[high] - sorted[low]) * (place - (double)low);
}

double hta_quantile(double *values, size_t n, double part)
{
	sort_values(values, n);
	return quantile(values, n, part);
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
	if (!GROW(l->values, l->n + 1, l->cap)) {
		l->oom = true;
		return;
	}
	l->values[l->n++] = value;
}

struct cell hta_us(int64_t ns)
{
	return ns % 1000 ? FIXED(ns, 3) : NUMBER(ns / 1000);
}

struct cell hta_pid(const struct hta *h, const struct hta_place *place, struct table *t)
{
	return place->pid & HTA_TEXT_PID && place->pid >= 0 ? TEXT(table_keep(t, "%s", h->names[place->pid ^ HTA_TEXT_PID].text))
							    : NUMBER(place->pid);
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
