#include "cli/report/parts/sums.h"

#include "cli/model/names.h"
#include "cli/model/sort.h"

/* One worker of a pass. */
struct pass {
	struct sums part;
	bool (*key)(struct sums *s, const struct batch *b, size_t row, uint64_t *key);
};

static int add_batch(const struct batch *b, void *state)
{
	struct pass *p = state;
	const int64_t *value = b->column[0], *start = b->column[1];
	const uint32_t *name = b->column[2];
	struct series *s = NULL;
	uint64_t key;

	for (size_t i = 0; i < b->n; i++) {
		if (!p->key)
			key = name[i];
		else if (!p->key(&p->part, b, i, &key))
			continue;
		if (!s || s->key != key)
			s = groups_get(&p->part.groups, key);
		if (!s)
			return -1;
		if ((value[i] == 0 && start && start[i] == 0) || value[i] < 0) {
			series_unknown(s);
			p->part.untimed++;
		} else if (!series_add(s, value[i])) {
			return -1;
		}
	}
	return 0;
}

int sums_pass(struct sums *s, unsigned kind, const unsigned *fields, size_t n_fields,
	      bool (*key)(struct sums *s, const struct batch *b, size_t row, uint64_t *key))
{
	struct pass passes[MODEL_WORKERS] = { { .part = { .m = s->m, .filter = s->filter }, .key = key },
					      { .part = { .m = s->m, .filter = s->filter }, .key = key } };
	void *const states[MODEL_WORKERS] = { &passes[0], &passes[1] };
	int rc = model_scan(s->m, kind, fields, n_fields, add_batch, states);

	for (size_t w = 0; w < MODEL_WORKERS; w++) {
		groups_merge(&s->groups, &passes[w].part.groups);
		s->untimed += passes[w].part.untimed;
		s->open += passes[w].part.open;
		s->nested += passes[w].part.nested;
		s->others += passes[w].part.others;
	}
	return rc < 0 || s->groups.oom ? -1 : 0;
}

void sums_release(struct sums *s)
{
	groups_release(&s->groups);
}

/* Prints the row of a series; all but the count is unknown when the series has no value.  median: twice the median. */
static void put_times(struct table *t, struct series *g, unsigned __int128 all, int64_t median, const char *group,
		      const char *called)
{
	struct cell cells[10] = { UNKNOWN, UNKNOWN, NUMBER(g->rows), UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	size_t n = 8;

	if (g->n) {
		cells[0] = FIXED(share(g->sum, all), 1);
		cells[1] = NUMBER(g->sum);
		cells[3] = FIXED(series_mean(g, 10, 1), 1);
		cells[4] = FIXED(median > INT64_MAX / 5 ? INT64_MAX : median * 5, 1);
		cells[5] = NUMBER(g->min);
		cells[6] = NUMBER(g->max);
		cells[7] = FIXED(series_deviation(g, 10, 1), 1);
	}
	if (group)
		cells[n++] = TEXT(group);
	cells[n] = TEXT(called);
	table_row(t, cells);
}

int sums_print_styles(struct sums *s, struct table *t, const char *(*style)(struct sums *s, uint64_t key),
		      const char *(*name)(struct sums *s, struct table *t, uint64_t key))
{
	unsigned __int128 all = 0;

	groups_sort(&s->groups);
	for (size_t i = 0; i < s->groups.n; i++)
		all += s->groups.list[i].sum;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct series *g = &s->groups.list[i];
		int64_t median = g->n ? series_median2(g) : 0;

		if (median < 0)
			return -1;
		put_times(t, g, all, median, style ? style(s, g->key) : NULL, name(s, t, g->key));
	}
	if (s->untimed)
		table_note(t,
			   "rows without a time, because CUPTI gave none: %llu; they count as rows, but in no time",
			   (unsigned long long)s->untimed);
	return 0;
}

int sums_print_times(struct sums *s, struct table *t,
		     const char *(*name)(struct sums *s, struct table *t, uint64_t key))
{
	return sums_print_styles(s, t, NULL, name);
}

/* As nsys prints them: MB (10^6 bytes) with three decimals. */
int sums_print_sizes(struct sums *s, struct table *t,
		     const char *(*name)(struct sums *s, struct table *t, uint64_t key))
{
	groups_sort(&s->groups);
	for (size_t i = 0; i < s->groups.n; i++) {
		struct series *g = &s->groups.list[i];
		int64_t median = g->n ? series_median2(g) : 0;

		if (median < 0)
			return -1;
		if (!g->n) {            /* all sizes are unknown: 2^63 or above */
			table_row(t, (const struct cell[]){ UNKNOWN, NUMBER(g->rows), UNKNOWN, UNKNOWN, UNKNOWN,
							    UNKNOWN, UNKNOWN, TEXT(name(s, t, g->key)) });
			continue;
		}
		table_row(t, (const struct cell[]){
				     FIXED((int64_t)((g->sum + 500) / 1000), 3), NUMBER(g->rows),
				     FIXED(series_mean(g, 1, 1000), 3), FIXED(time_add(median, 1000) / 2000, 3),
				     FIXED(time_add(g->min, 500) / 1000, 3), FIXED(time_add(g->max, 500) / 1000, 3),
				     FIXED(series_deviation(g, 1, 1000), 3), TEXT(name(s, t, g->key)) });
	}
	return 0;
}
