#include "cli/model/spans.h"

#include <stdlib.h>

#include "trace/grow.h"

void spans_add(struct spans *s, int64_t start, int64_t end)
{
	struct timed *last = s->n ? &s->list[s->n - 1] : NULL;

	if (end <= start)
		return;
	/* Rows are nearly sorted: most touch or overlap the previous interval and only extend it. */
	if (last && start >= last->time && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return;
	}
	if (!GROW(s->list, s->n + 1, s->cap)) {
		s->oom = true;
		return;
	}
	s->list[s->n++] = (struct timed){ .time = start, .end = end };
}

void spans_clear(struct spans *s)
{
	s->n = 0;
	s->oom = false;
}

void spans_release(struct spans *s)
{
	free(s->list);
	*s = (struct spans){ 0 };
}

int64_t spans_length(const struct spans *s)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->n; i++)
		total = time_add(total, time_sub(s->list[i].end, s->list[i].time));
	return total;
}

/* Joins overlapping and touching intervals of a sorted set. */
static void close_up(struct spans *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct timed *last = kept ? &s->list[kept - 1] : NULL;

		if (!last || s->list[i].time > last->end)
			s->list[kept++] = s->list[i];
		else if (s->list[i].end > last->end)
			last->end = s->list[i].end;
	}
	s->n = kept;
}

int64_t spans_union(struct spans *s)
{
	if (s->oom || timed_sort(s->list, s->n) < 0)
		return -1;
	close_up(s);
	return spans_length(s);
}

int spans_merge(struct spans *to, struct spans *from)
{
	size_t i = to->n, k = from->n, n = i + k;

	if (to->oom || from->oom)
		return -1;
	if (!i) {
		spans_release(to);
		*to = *from;
		*from = (struct spans){ 0 };
		return 0;
	}
	if (!GROW(to->list, n, to->cap))
		return -1;
	to->n = n;
	while (k)               /* from the back: in place, without overwriting unread intervals */
		to->list[--n] = i && to->list[i - 1].time > from->list[k - 1].time ? to->list[--i] : from->list[--k];
	close_up(to);
	spans_clear(from);
	return 0;
}

/* The next interval of the intersection, from a[*i] and b[*k] on.  False: no more. */
static bool next_common(const struct spans *a, const struct spans *b, size_t *i, size_t *k, struct timed *out)
{
	while (*i < a->n && *k < b->n) {
		const struct timed *p = &a->list[*i], *q = &b->list[*k];

		out->time = p->time > q->time ? p->time : q->time;
		out->end = p->end < q->end ? p->end : q->end;
		if (p->end < q->end)
			++*i;
		else
			++*k;
		if (out->time < out->end)
			return true;
	}
	return false;
}

int spans_intersect(const struct spans *a, const struct spans *b, struct spans *out)
{
	size_t i = 0, k = 0;
	struct timed both;

	spans_clear(out);
	while (next_common(a, b, &i, &k, &both))
		spans_add(out, both.time, both.end);
	return out->oom ? -1 : 0;
}

int64_t spans_common(const struct spans *a, const struct spans *b)
{
	size_t i = 0, k = 0;
	int64_t total = 0;
	struct timed both;

	while (next_common(a, b, &i, &k, &both))
		total = time_add(total, time_sub(both.end, both.time));
	return total;
}

int spans_subtract(const struct spans *a, const struct spans *b, struct spans *out)
{
	size_t k = 0;

	spans_clear(out);
	for (size_t i = 0; i < a->n; i++) {
		int64_t at = a->list[i].time, end = a->list[i].end;

		while (k < b->n && b->list[k].end <= at)
			k++;
		/* An interval of b can overlap several of a, so k does not advance past it. */
		for (size_t j = k; j < b->n && b->list[j].time < end; j++) {
			spans_add(out, at, b->list[j].time);
			at = b->list[j].end > at ? b->list[j].end : at;
		}
		spans_add(out, at, end);
	}
	return out->oom ? -1 : 0;
}

/* Index of the first interval that ends after a time. */
static size_t first_after(const struct spans *s, int64_t time)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->list[mid].end <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool spans_have(const struct spans *s, int64_t time)
{
	size_t i = first_after(s, time);

	return i < s->n && s->list[i].time <= time;
}

int64_t spans_within(const struct spans *s, int64_t from, int64_t to)
{
	size_t low = first_after(s, from);
	int64_t sum = 0;

	for (; low < s->n && s->list[low].time < to; low++) {
		int64_t start = s->list[low].time > from ? s->list[low].time : from;
		int64_t end = s->list[low].end < to ? s->list[low].end : to;

		sum = time_add(sum, time_sub(end, start));
	}
	return sum;
}
