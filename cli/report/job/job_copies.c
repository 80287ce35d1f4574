/* memory_bandwidth, memory_bandwidth_series: bytes moved by copies and memory sets, and their bandwidth. */
#include "cli/report/job/job.h"

#include "cli/model/map.h"

#include <math.h>
#include <stdlib.h>

/* A copy or memory set with a time and known bytes. */
struct copy {
	int64_t start, end;
	uint64_t bytes;
	uint32_t kind;                  /* string id of "Memcpy HtoD", ... */
};

struct copies {
	struct copy *list;              /* by the text of the kind, then by start */
	size_t n;
	size_t unknown;                 /* number of copies with an unknown number of bytes */
};

static int by_start(const void *a, const void *b, void *model)
{
	const struct copy *x = a, *y = b;
	int order = x->kind == y->kind ? 0 : strcmp(model_string(model, x->kind), model_string(model, y->kind));

	if (order)
		return order;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int copies_of(const struct job_rank *r, struct copies *c)
{
	const uint64_t *copied = MODEL_U64(r->m, memcpy, bytes), *set = MODEL_U64(r->m, memset, bytes);
	struct job_rows rows;
	int rc = job_gpu_rows(r, &rows);

	*c = (struct copies){ .list = rc == 0 ? malloc((rows.n + 1) * sizeof *c->list) : NULL };
	if (!c->list || !copied || !set)
		rc = -1;
	for (size_t i = 0; i < rows.n && rc == 0; i++) {
		const struct gpu_row *g = &rows.list[i];
		struct copy one = { g->start, g->end, 0, 0 };

		if ((g->kind != ROW_memcpy && g->kind != ROW_memset) || !gpu_row_timed(g))
			continue;
		one.bytes = g->kind == ROW_memcpy ? copied[g->row] : set[g->row];
		one.kind = job_copy_kind_id(r->m, g);
		if (one.kind == MAP_NONE)
			rc = -1;
		else if (one.bytes > INT64_MAX)
			c->unknown++;
		else
			c->list[c->n++] = one;
	}
	if (rc == 0 && c->n)
		qsort_r(c->list, c->n, sizeof *c->list, by_start, r->m);
	free(rows.list);
	return rc;
}

/* value: bytes per ns, which are GB/s. */
static struct cell gb_per_s(double value)
{
	return isfinite(value) && value < 9e12 ? FIXED(llrint(value * 1000), 3) : UNKNOWN;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The row of one kind; list[n]: its copies. */
static int put_kind(struct table *t, const struct job_rank *r, const struct copy *list, size_t n)
{
	double *rates = malloc((n + 1) * sizeof *rates);
	struct spans times = { 0 };
	size_t rated = 0;
	uint64_t bytes = 0;
	int64_t ns;

	for (size_t i = 0; rates && i < n; i++) {
		bytes = (uint64_t)time_add((int64_t)bytes, (int64_t)list[i].bytes);
		spans_add(&times, list[i].start, list[i].end);
		if (list[i].end > list[i].start)
			rates[rated++] = (double)list[i].bytes / (double)time_sub(list[i].end, list[i].start);
	}
	ns = rates ? spans_union(&times) : -1;
	spans_release(&times);
	if (ns >= 0 && rated)
		qsort(rates, rated, sizeof *rates, by_value);
	if (ns >= 0)
		table_row(t, (struct cell[]){ NUMBER(r->number), TEXT(table_keep(t, "%s", model_string(r->m, list->kind))), NUMBER(n),
					      NUMBER(bytes), NUMBER(ns), ns ? gb_per_s((double)bytes / (double)ns) : UNKNOWN,
					      rated ? gb_per_s(rates[(rated + 1) / 2 - 1]) : UNKNOWN,
					      rated ? gb_per_s(rates[rated - 1]) : UNKNOWN });
	free(rates);
	return ns < 0 ? -1 : 0;
}

/*
 * One row per time at which a copy starts (.kind 1) or ends (0), with the sum of the rates of the copies that then run.  When none runs the
 * rate is set to 0, to drop rounding errors.
 */
static int put_changes(struct table *t, const struct job *j, const struct job_rank *r, const struct copy *list, size_t n)
{
	struct timed *order = malloc((2 * n + 1) * sizeof *order);
	const char *kind = table_keep(t, "%s", model_string(r->m, list->kind));
	size_t changes = 0;
	long double rate = 0;
	uint64_t running = 0;
	int rc = order ? 0 : -1;

	for (size_t i = 0; order && i < n; i++) {
		if (list[i].end <= list[i].start)
			continue;
		order[changes++] = (struct timed){ .time = list[i].start, .kind = 1, .row = (uint32_t)i };
		order[changes++] = (struct timed){ .time = list[i].end, .kind = 0, .row = (uint32_t)i };
	}
	if (rc == 0)
		rc = timed_sort(order, changes);
	for (size_t i = 0; i < changes && rc == 0; i++) {
		const struct copy *c = &list[order[i].row];
		long double own = (long double)c->bytes / (long double)time_sub(c->end, c->start);

		rate += order[i].kind ? own : -own;
		running += order[i].kind ? 1 : (uint64_t)-1;
		if (!running)
			rate = 0;
		if (i + 1 < changes && order[i + 1].time == order[i].time)
			continue;
		table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(time_sub(order[i].time, j->start)), TEXT(kind),
					      gb_per_s((double)rate) });
	}
	free(order);
	return rc;
}

static int each_kind(const struct job *j, const struct job_rank *r, struct table *t, bool series)
{
	struct copies c;
	int rc = copies_of(r, &c);

	for (size_t i = 0, end; i < c.n && rc == 0; i = end) {
		for (end = i + 1; end < c.n && c.list[end].kind == c.list[i].kind;)
			end++;
		rc = series ? put_changes(t, j, r, &c.list[i], end - i) : put_kind(t, r, &c.list[i], end - i);
	}
	if (rc == 0 && c.unknown)
		table_note(t, "rank %lld: %zu copies have an unknown number of bytes; they are not in this table", (long long)r->number,
			   c.unknown);
	if (rc == 0 && !c.n && !c.unknown)
		table_note(t, "rank %lld has no copies or memory sets", (long long)r->number);
	free(c.list);
	return rc;
}

static int put_sums(const struct job *j, const struct job_rank *r, struct table *t)
{
	return each_kind(j, r, t, false);
}

static int put_series(const struct job *j, const struct job_rank *r, struct table *t)
{
	return each_kind(j, r, t, true);
}

static int sums(struct model *m, struct table *t, const struct report_choice *choice)
{
	return job_each(m, t, choice, put_sums);
}

static int series(struct model *m, struct table *t, const struct report_choice *choice)
{
	return job_each(m, t, choice, put_series);
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "name", COLUMN_TEXT }, { "copies", 0 }, { "bytes", 0 }, { "time_ns", 0 }, { "gb_per_s", 0 },
	{ "median_gb_per_s", 0 }, { "max_gb_per_s", 0 },
};
static const struct heading series_columns[] = {
	{ "rank", COLUMN_ID }, { "time_ns", COLUMN_MOMENT }, { "name", COLUMN_TEXT }, { "gb_per_s", 0 },
};

const struct report report_memory_bandwidth = {
	.name = "memory_bandwidth",
	.title = "Bandwidth of Copies and Memory Sets, by Rank and Direction",
	.help = "What bandwidth do copies and memory sets reach, by direction?",
	.needs = NEED_COPIES,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = sums,
};

const struct report report_memory_bandwidth_series = {
	.name = "memory_bandwidth_series",
	.title = "Bandwidth of Copies and Memory Sets over Time",
	.help = "How does the bandwidth of copies change over time?",
	.needs = NEED_COPIES,
	.ranks = true,
	COLUMNS(series_columns),
	.run_chosen = series,
};
