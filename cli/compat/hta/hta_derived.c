#include "cli/compat/hta/hta_derived.h"

#include <stdlib.h>

const struct timed *hta_by_time(const struct hta_rank *r)
{
	struct timed *list = r->derived->by_time;

	if (list)
		return list;
	list = malloc((r->n_gpu + 1) * sizeof *list);
	for (size_t i = 0; list && i < r->n_gpu; i++)
		list[i] = (struct timed){ .time = hta_row(r, r->gpu[i])->ts, .row = r->gpu[i] };
	if (list && timed_sort(list, r->n_gpu) < 0) {
		free(list);
		list = NULL;
	}
	return r->derived->by_time = list;
}

/* Makes all classes in one pass: a report that asks for one asks for the rest, too. */
const struct hta_intervals *hta_busy(const struct hta *h, const struct hta_rank *r, enum hta_class class)
{
	struct hta_intervals *busy = r->derived->busy;
	const struct timed *rows = hta_by_time(r);

	if (busy[HTA_CLASSES].list || !rows)
		return rows ? &busy[class] : NULL;
	for (size_t c = 0; c <= HTA_CLASSES; c++) {
		free(busy[c].list);
		busy[c] = (struct hta_intervals){ .list = malloc((r->n_gpu + 1) * sizeof *busy[c].list) };
		if (!busy[c].list)
			return NULL;
	}
	for (size_t i = 0; i < r->n_gpu; i++) {
		const struct hta_row *row = hta_row(r, rows[i].row);
		struct timed one = { .time = row->ts, .end = hta_end(row) };

		hta_merge(&busy[h->names[row->name].class], one);
		hta_merge(&busy[HTA_CLASSES], one);
	}
	for (size_t c = 0; c <= HTA_CLASSES; c++) {
		struct timed *less = realloc(busy[c].list, (busy[c].n + 1) * sizeof *less);

		busy[c].list = less ? less : busy[c].list;
	}
	return &busy[class];
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

const struct hta_streams *hta_streams(const struct hta_rank *r)
{
	struct hta_streams *s = &r->derived->streams;
	size_t n = 0;

	if (s->of_place)
		return s;
	free(s->numbers);
	s->numbers = malloc((r->n_places + 1) * sizeof *s->numbers);
	s->of_place = s->numbers ? malloc((r->n_places + 1) * sizeof *s->of_place) : NULL;
	if (!s->of_place)
		return NULL;
	for (size_t i = 0; i < r->n_places; i++)
		s->numbers[n++] = r->places[i].stream;
	qsort(s->numbers, n, sizeof *s->numbers, by_number);
	for (size_t i = 0; i < n; i++)
		if (!s->n || s->numbers[i] != s->numbers[s->n - 1])
			s->numbers[s->n++] = s->numbers[i];
	for (size_t i = 0; i < r->n_places; i++) {
		const int64_t *at = bsearch(&r->places[i].stream, s->numbers, s->n, sizeof *s->numbers, by_number);

		s->of_place[i] = (uint32_t)(at - s->numbers);
	}
	return s;
}

const struct hta_chains *hta_chains(const struct hta *h, const struct hta_rank *r)
{
	struct hta_chains *c = &r->derived->chains;

	if (c->next)
		return c;
	free(c->first);
	free(c->flags);
	c->first = calloc(r->n_ids + 1, sizeof *c->first);
	c->flags = calloc(r->n_ids + 1, sizeof *c->flags);
	c->next = c->first && c->flags ? malloc((r->n_gpu + 1) * sizeof *c->next) : NULL;
	if (!c->next)
		return NULL;
	for (size_t k = r->n_gpu; k-- > 0;) {
		uint32_t id = hta_id(r, r->gpu[k]);

		c->next[k] = c->first[id];
		c->first[id] = (uint32_t)k + 1;
	}
	c->first[0] = 0;
	for (size_t k = 0; k < r->n_linked; k++) {
		const struct hta_row *row = hta_row(r, r->linked[k]);
		uint32_t flags = h->names[row->name].flags & (HTA_LAUNCH | HTA_QUEUES);

		if (flags)
			c->flags[hta_id(r, r->linked[k])] |= (uint8_t)(row->partner > 0 ? flags : flags & HTA_LAUNCH);
	}
	return c;
}

int hta_count_pairs(const struct hta *h, const struct hta_rank *r, bool (*counts)(const struct hta *h, const struct hta_rank *r, size_t call),
		    uint64_t *pairs)
{
	uint32_t *rows = calloc(r->n_ids + 1, sizeof *rows);    /* number of rows on streams, by hta_id() */

	*pairs = 0;
	for (size_t i = 0; rows && i < r->n_gpu; i++)
		rows[hta_id(r, r->gpu[i])]++;
	for (size_t i = 0; rows && i < r->n_linked; i++)
		if (counts(h, r, r->linked[i]))
			*pairs += rows[hta_id(r, r->linked[i])];
	free(rows);
	return rows ? 0 : -1;
}

void hta_derived_free(struct hta_derived *derived)
{
	if (!derived)
		return;
	free(derived->by_time);
	for (size_t c = 0; c <= HTA_CLASSES; c++)
		free(derived->busy[c].list);
	free(derived->streams.numbers);
	free(derived->streams.of_place);
	free(derived->chains.first);
	free(derived->chains.next);
	free(derived->chains.flags);
	free(derived->queue);
	free(derived);
}
