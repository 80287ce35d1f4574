/* Ranges that a file describes by two events, begin and end; and marks. */
#include <string.h>

#include "cli/import/rows/kineto.h"

static struct range_row *range_at(struct kineto *k, uint32_t host, uint32_t row)
{
	return (struct range_row *)k->hosts[host].range.data + row;
}

/* Events b and e belong together if category, name, id and process are equal. */
static uint64_t pair_key(struct kineto *k, const struct event *e, uint32_t host)
{
	uint64_t id = (uint64_t)kineto_number(k, &e->id) * 0x9e3779b97f4a7c15ull;

	return (id ^ id >> 29) + ((uint64_t)e->category << 40 ^ (uint64_t)e->name << 8 ^ host);
}

int pair_begin(struct kineto *k, const struct event *e, uint32_t thread)
{
	struct host_thread *t = &k->threads[thread];
	uint32_t row = (uint32_t)(k->hosts[t->host].range.len / sizeof(struct range_row)) - 1;
	struct range_row *r = range_at(k, t->host, row);

	if (k->hosts[t->host].range.oom)
		return -1;
	r->flags |= RANGE_INCOMPLETE;
	if (e->phase == 'b') {
		r->flags |= RANGE_STARTEND;
		return map_set(&k->pairs, pair_key(k, e, t->host), row) ? 0 : -1;
	}
	r->payload = t->open;           /* link to the enclosing open range, until this one ends */
	t->open = row + 1;
	return 0;
}

static void end_at(struct kineto *k, struct range_row *r, int64_t end)
{
	r->flags &= ~RANGE_INCOMPLETE;
	if (end >= r->start)
		r->duration = end - r->start;
	else
		kineto_count(k, COUNT_NEGATIVE, "'%.80s'", kineto_text(k, r->name));
	k->last = end > k->last ? end : k->last;
}

int pair_end(struct kineto *k, const struct event *e)
{
	uint32_t thread = kineto_thread(k, e), row;
	struct host_thread *t;

	if (thread == NO_HOST)
		return -1;
	t = &k->threads[thread];
	if (e->phase == 'E') {
		row = t->open ? t->open - 1 : MAP_NONE;
		if (row != MAP_NONE) {
			t->open = (uint32_t)range_at(k, t->host, row)->payload;
			range_at(k, t->host, row)->payload = 0;
		}
	} else {
		row = map_get(&k->pairs, pair_key(k, e, t->host));
		/* Keys are hashes: a crafted file may make one that finds a range of another process. */
		if (row != MAP_NONE && (row >= k->hosts[t->host].range.len / sizeof(struct range_row) ||
					!(range_at(k, t->host, row)->flags & RANGE_INCOMPLETE)))
			row = MAP_NONE;
	}
	if (row == MAP_NONE) {
		kineto_count(k, COUNT_PHASE, "event %llu is an end without a begin", (unsigned long long)e->index);
		return 0;
	}
	end_at(k, range_at(k, t->host, row), e->ts);
	range_at(k, t->host, row)->end_thread = thread;
	return 0;
}

int event_mark(struct kineto *k, const struct event *e)
{
	uint32_t thread = kineto_thread(k, e);
	bool plain = !e->category || strncmp(kineto_text(k, e->category), "nvtx", 4) == 0;
	struct mark_row row = { .start = e->ts, .thread = thread, .name = e->name,
				.domain = plain ? 0 : kineto_domain(k, kineto_text(k, e->category)) };

	if (thread == NO_HOST)
		return -1;
	if (e->ts < k->threads[thread].first)
		k->threads[thread].first = e->ts;
	buf_put(&k->hosts[k->threads[thread].host].mark, &row, sizeof row);
	return 0;
}
