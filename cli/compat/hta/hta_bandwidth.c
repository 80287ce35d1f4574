/*
 * Bandwidth of copies and memory sets over time (hta/analyzers/trace_counters.py): the sum of the bandwidths of those that run, over all
 * GPUs and streams of a rank.
 */
#include "cli/compat/hta/hta.h"

#include <stdlib.h>

struct change {
	uint32_t row;
	uint32_t kind;                  /* position in kinds */
	double value;                   /* GB/s: the change; at the end of changes_of() the sum of the kind after it */
};

struct changes {
	struct change *list;
	struct timed *order;
	size_t n;
	char kinds[64][16];
	size_t n_kinds;
};

/* Position in kinds of "Memcpy DtoH" for the name "Memcpy DtoH (Device -> Pinned)"; added if missing. */
static uint32_t kind_of(struct changes *c, const char *name)
{
	char word[16];
	uint32_t i;

	if (strncmp(name, "Memset", 6) == 0)
		strcpy(word, "Memset");
	else if (strncmp(name, "Memcpy", 6) == 0)
		snprintf(word, sizeof word, "%.11s", name);
	else
		strcpy(word, "Memcpy Unknown");
	for (i = 0; i < c->n_kinds; i++)
		if (strcmp(c->kinds[i], word) == 0)
			return i;
	if (c->n_kinds < sizeof c->kinds / sizeof *c->kinds)
		strcpy(c->kinds[c->n_kinds++], word);
	return i < c->n_kinds ? i : i - 1;
}

static void release(struct changes *c)
{
	free(c->list);
	free(c->order);
}

/* Changes by time, at equal times all starts first.  Returns 0, or -1 when out of memory. */
static int changes_of(const struct hta *h, const struct hta_rank *r, struct changes *c)
{
	double now[64] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->n_gpu; i++)
		n += h->names[hta_row(r, r->gpu[i])->name].class == HTA_MEMORY;
	c->list = malloc((2 * n + 1) * sizeof *c->list);
	c->order = malloc((2 * n + 1) * sizeof *c->order);
	if (!c->list || !c->order)
		return -1;
	c->n = 0;
	for (size_t i = 0; i < r->n_gpu; i++) {
		const struct hta_row *row = hta_row(r, r->gpu[i]);
		struct change one = { .row = r->gpu[i] };

		if (h->names[row->name].class != HTA_MEMORY)
			continue;
		one.kind = kind_of(c, h->names[row->name].text);
		one.value = row->category == HTA_SYNC ? 0 : hta_extra(r, row)->bandwidth;
		c->list[c->n] = one;
		c->order[c->n] = (struct timed){ .time = row->ts, .row = (uint32_t)c->n };
		one.value = -one.value;
		c->list[n + c->n] = one;
		/* A row of no duration lasts 1 us: else it would not show. */
		c->order[n + c->n] = (struct timed){ .time = row->dur ? hta_end(row) : time_add(row->ts, 1000),
						     .row = (uint32_t)(n + c->n) };
		c->n++;
	}
	c->n = 2 * n;
	if (timed_sort(c->order, c->n) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++) {
		struct change *one = &c->list[c->order[i].row];

		now[one->kind] += one->value;
		one->value = now[one->kind];
	}
	return 0;
}

static int each_rank(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how,
		     int (*print)(const struct hta *h, const struct hta_rank *r, const struct changes *c,
			  struct table *t))
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		struct changes c = { 0 };

		rc = changes_of(h, &h->ranks[k], &c);
		if (rc == 0)
			rc = print(h, &h->ranks[k], &c, t);
		release(&c);
	}
	hta_done(h, t, choice);
	return rc;
}

static int print_series(const struct hta *h, const struct hta_rank *r, const struct changes *c, struct table *t)
{
	const char *kinds[sizeof c->kinds / sizeof *c->kinds];

	for (size_t k = 0; k < c->n_kinds; k++)
		kinds[k] = table_keep(t, "%s", c->kinds[k]);
	for (size_t i = 0; i < c->n; i++) {
		const struct change *one = &c->list[c->order[i].row];

		table_row(t, (struct cell[]){ NUMBER(r->rank), hta_us(c->order[i].time), hta_pid(h, hta_place(r, hta_row(r, one->row)), t),
					      TEXT(kinds[one->kind]), hta_real(one->value, 9) });
	}
	return 0;
}

static int print_summary(const struct hta *h, const struct hta_rank *r, const struct changes *c, struct table *t)
{
	double *values = malloc((c->n + 1) * sizeof *values);

	(void)h;
	for (uint32_t k = 0; values && k < c->n_kinds; k++) {
		struct hta_described d;
		size_t n = 0;

		for (size_t i = 0; i < c->n; i++) {
			const struct change *one = &c->list[c->order[i].row];

			if (one->kind == k && one->value > 0)
				values[n++] = one->value;
		}
		if (!n)
			continue;
		d = hta_describe(values, n);
		table_row(t, (struct cell[]){ NUMBER(r->rank), TEXT(table_keep(t, "%s", c->kinds[k])), NUMBER(d.n),
					      hta_real(d.mean, 9), hta_real(d.std, 9), hta_real(d.min, 9), hta_real(d.q1, 9),
					      hta_real(d.median, 9), hta_real(d.q3, 9), hta_real(d.max, 9) });
	}
	free(values);
	return values ? 0 : -1;
}

static int series(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_series);
}

static int summary(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return each_rank(m, t, choice, how, print_summary);
}

static const struct heading series_columns[] = {
	{ "rank", COLUMN_ID }, { "ts", COLUMN_ID }, { "pid", COLUMN_ID }, { "name", COLUMN_TEXT }, { "memory_bw_gbps", 0 },
};
static const struct heading summary_columns[] = {
	{ "rank", COLUMN_ID }, { "name", COLUMN_TEXT }, { "memory_bw_gbps_count", 0 }, { "memory_bw_gbps_mean", 0 },
	{ "memory_bw_gbps_std", 0 }, { "memory_bw_gbps_min", 0 }, { "memory_bw_gbps_25%", 0 }, { "memory_bw_gbps_50%", 0 },
	{ "memory_bw_gbps_75%", 0 }, { "memory_bw_gbps_max", 0 },
};

HTA_TWIN(hta_memory_bw_summary, summary, summary_columns, NULL, "Bandwidth of Copies (GB/s)",
	 "bandwidth of copies and memory sets while any of them runs");
HTA_TWIN(hta_memory_bw_time_series, series, series_columns, NULL,
	 "Bandwidth of Copies (GB/s), over Time (us)", "bandwidth of copies and memory sets over time");
