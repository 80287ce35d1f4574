/*
 * The list of events, one by one: what stands between them, and what is done where one makes no sense.
 *
 * Reading on one thread and making rows on another was tried: handing events from core to core made an import dearer by a
 * fifth to two fifths of its CPU time, as much as it could have saved of its length.
 */
#include <string.h>

#include "cli/import/json_fast.h"
#include "cli/import/kineto.h"
#include "cli/import/source.h"

#define RESYNC_KEYS 6

/* An event begins at p: a bracket, and a key that only events have. */
static bool event_at(const uint8_t *p, const uint8_t *end)
{
	static const char *const keys[RESYNC_KEYS] = { "ph", "cat", "name", "pid", "tid", "ts" };

	for (p++; p < end && *p <= ' '; p++)
		;
	for (size_t i = 0; i < RESYNC_KEYS; i++) {
		size_t n = strlen(keys[i]);

		if (end - p > (ptrdiff_t)n + 1 && p[0] == '"' && memcmp(p + 1, keys[i], n) == 0 && p[n + 1] == '"')
			return true;
	}
	return false;
}

/* To the next event behind the one that made no sense.  False: there is none. */
static bool resync(struct scan *s, const uint8_t *from)
{
	s->p = from + 1;
	for (;;) {
		const uint8_t *end = s->end, *p = memchr(s->p, '{', (size_t)(end - s->p));

		/* What follows it should be there, too; at the end of the file it need not. */
		if ((!p || end - p < 256) && s->more(s)) {
			s->p = p ? p : end;
			continue;
		}
		if (!p)
			return false;
		s->p = p;
		if (event_at(p, s->end))
			return true;
		s->p = p + 1;
	}
}

/* The whole numbers of a list that has nothing else; false: there are not so many. */
static bool whole_numbers(const struct json_value *v, int64_t *to, size_t n)
{
	const uint8_t *p = v->at, *end = p + v->n;
	size_t got = 0;

	while (p < end && *p++ != '[')
		;
	for (; p < end && got < n; p++) {
		struct json_value one = { .at = p, .type = JSON_NUMBER };

		if (*p <= ' ')
			continue;
		while (p < end && *p > ' ' && *p != ',' && *p != ']')
			p++;
		one.n = (size_t)(p - one.at);
		if (!one.n || !json_whole(&one, &to[got++]))
			return false;
		while (p < end && *p <= ' ')
			p++;
		if (p == end || *p != (got < n ? ',' : ']'))
			return false;
	}
	return got == n;
}

/* [when, action, bytes, category]: a row of a memory timeline, which is a list of such lists.  False: it is none. */
static bool memory_change(const struct json_value *v, struct memory_change_row *row)
{
	int64_t n[4];

	if (v->type != JSON_LIST || !whole_numbers(v, n, 4))
		return false;
	*row = (struct memory_change_row){ .ts = n[0], .action = (uint32_t)n[1], .bytes = n[2], .category = (uint32_t)n[3] };
	return true;
}

static enum event_item one_event(struct kineto *k, struct event *e, struct hop *first)
{
	int rc;

	k->needed = k->since;
	rc = event_read(k, e, k->since, first);
	if (rc < 0)
		return ITEM_CUT;
	k->index++;
	if (rc)
		k->since = k->scan.p;
	else    /* Each of too many brackets that led there would be followed anew. */
		k->broken = k->scan.too_deep > e->at ? k->scan.too_deep : e->at;
	return rc ? ITEM_EVENT : ITEM_BROKEN;
}

/* What is neither an event nor stands between two. */
static enum event_item other_value(struct kineto *k, struct event *e)
{
	struct json_value v;
	enum json_type type;

	k->needed = k->scan.p;
	type = scan_value(&k->scan, &v);
	k->since = e->end = k->scan.p;
	e->index = k->index++;
	if (type == JSON_LIST && memory_change(&v, &e->change))
		return ITEM_CHANGE;
	if (type == JSON_BAD)
		k->broken = k->scan.p;
	k->listed |= type == JSON_LIST;
	if (type != JSON_NOTHING)
		return ITEM_NO_EVENT;
	kineto_count(k, COUNT_BROKEN, "event %llu is no object", (unsigned long long)e->index);
	return ITEM_CUT;        /* nothing was read: it would be met again and again */
}

static enum event_item next_item(struct kineto *k, struct event *e)
{
	struct scan *s = &k->scan;

	k->needed = NULL;
	if (k->broken) {
		if (!resync(s, k->broken))
			return ITEM_CUT;
		k->since = s->p;
		k->broken = NULL;
	}
	for (;;) {
		struct hop *first = s->end - k->since >= HOP_ROOM ? hop_find(k->hops.list, k->since) : NULL;
		const uint8_t *end = s->end;
		int c = first ? '{' : fast_peek(s);

		if (s->end != end)      /* and what lay before may be gone */
			k->since = s->p;
		if (c < 0)
			return ITEM_CUT;
		if (c == '{')
			return one_event(k, e, first);
		if (c == ']' || c == '}') {     /* the latter: whoever cut it, closed it in a hurry */
			s->p += c == ']';
			return ITEM_END;
		}
		if (c != ',')
			return other_value(k, e);
		s->p++;
	}
}

/* 0, or -1: out of memory. */
static int take(struct kineto *k, struct event *e)
{
	switch (e->item) {
	case ITEM_EVENT:
		if (event_rows(k, e) < 0)
			return trace_fail(k->err, 0, "out of memory");
		break;
	case ITEM_CHANGE:
		buf_put(&k->memory_change, &e->change, sizeof e->change);
		break;
	case ITEM_BROKEN:
		kineto_count(k, COUNT_BROKEN, "event %llu, at byte %zu", (unsigned long long)e->index,
			     (size_t)(e->at - source_base(k->source)));
		return 0;
	default:
		kineto_count(k, COUNT_BROKEN, "event %llu is no object", (unsigned long long)e->index);
		return 0;
	}
	source_release(k->source, (size_t)(e->end - source_base(k->source)));
	return 0;
}

int kineto_events(struct kineto *k)
{
	struct event e;

	k->since = k->scan.p;
	for (;;) {
		e.item = next_item(k, &e);
		if (e.item >= ITEM_END)
			return e.item == ITEM_END ? 0 : -1;
		if (take(k, &e) < 0)
			return -1;
	}
}
