/*
 * Reads the list of events: the text between events, and recovery after an invalid event.
 *
 * Parsing and row creation share one thread.  With two threads, passing events between cores cost 14 % to over 33 % more CPU
 * time.
 */
#include <string.h>

#include "cli/import/bytes/source.h"
#include "cli/import/json/json_fast.h"
#include "cli/import/rows/kineto.h"

#define RESYNC_KEYS 6

/* Whether an event begins at p, which is at a {: a key of events follows. */
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

/* Moves the scanner to the next event after `from`, where an invalid event began.  False: there is none. */
static bool resync(struct scan *s, const uint8_t *from)
{
	s->p = from + 1;
	for (;;) {
		const uint8_t *end = s->end, *p = memchr(s->p, '{', (size_t)(end - s->p));

		/* event_at() needs bytes after the {; at the end of the file fewer will do. */
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

/* Skips c and blanks around it.  Returns the byte after them, or NULL: another byte. */
static const uint8_t *behind(const uint8_t *p, const uint8_t *end, char c)
{
	while (p < end && *p <= ' ')
		p++;
	if (p == end || *p++ != c)
		return NULL;
	while (p < end && *p <= ' ')
		p++;
	return p;
}

static const uint8_t *whole_number(const uint8_t *p, const uint8_t *end, int64_t *out)
{
	bool minus = p < end && *p == '-';
	const uint8_t *first = p += minus;
	uint64_t n = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, *p - '0', &n))
			return NULL;
	*out = (int64_t)(minus ? -n : n);
	return p > first ? p : NULL;
}

/*
 * Reads [time in ns, action, bytes, category], a row of a memory timeline, which is a list of such lists.  Returns the byte
 * after it; NULL: something else, or truncated.
 */
static const uint8_t *memory_change(const uint8_t *p, const uint8_t *end, struct memory_change_row *row)
{
	int64_t n[4];

	for (unsigned i = 0; i < 4 && p; i++) {
		p = behind(p, end, i ? ',' : '[');
		p = p ? whole_number(p, end, &n[i]) : NULL;
	}
	p = p ? behind(p, end, ']') : NULL;
	if (p)
		*row = (struct memory_change_row){ .ts = n[0], .action = (uint32_t)n[1], .bytes = n[2], .category = (uint32_t)n[3] };
	return p;
}

static enum event_item one_event(struct kineto *k, struct event *e, struct token *first)
{
	int rc;

	k->needed = k->since;
	rc = event_read(k, e, k->since, first);
	if (rc < 0)
		return ITEM_CUT;
	k->index++;
	if (rc)
		k->since = k->scan.p;
	else    /* Continue at the bracket that is too deep: each bracket before it would fail again, in quadratic time. */
		k->broken = k->scan.too_deep > e->at ? k->scan.too_deep : e->at;
	return rc ? ITEM_EVENT : ITEM_BROKEN;
}

/* An element of the list that is not an object. */
static enum event_item other_value(struct kineto *k, struct event *e)
{
	const uint8_t *after = memory_change(k->scan.p, k->scan.end, &e->change);
	struct json_value v;
	enum json_type type = JSON_LIST;

	k->needed = k->scan.p;
	if (after)
		k->scan.p = after;
	else
		type = scan_value(&k->scan, &v);
	k->since = e->end = k->scan.p;
	e->index = k->index++;
	if (after || (type == JSON_LIST && memory_change(v.at, v.at + v.n, &e->change)))
		return ITEM_CHANGE;
	if (type == JSON_BAD)
		k->broken = k->scan.p;
	k->listed |= type == JSON_LIST;
	if (type != JSON_NOTHING)
		return ITEM_NO_EVENT;
	kineto_count(k, COUNT_BROKEN, "event %llu is not an object", (unsigned long long)e->index);
	return ITEM_CUT;        /* nothing was consumed: continuing would loop forever */
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
		struct token *first = s->end - k->since >= TOKEN_ROOM ? token_cache_find(k->tokens.list, k->since) : NULL;
		const uint8_t *end = s->end;
		int c = first ? '{' : fast_peek(s);

		if (s->end != end)      /* fast_peek() waited for bytes, and k->since may have been released */
			k->since = s->p;
		if (c < 0)
			return ITEM_CUT;
		if (c == '{')
			return one_event(k, e, first);
		if (c == ']' || c == '}') {     /* }: a truncated file whose ] is missing */
			s->p += c == ']';
			return ITEM_END;
		}
		if (c != ',')
			return other_value(k, e);
		s->p++;
	}
}

/* Makes rows of an item, or counts it.  0, or -1: out of memory. */
static int take_event(struct kineto *k, struct event *e)
{
	switch (e->item) {
	case ITEM_EVENT:
		if (event_rows(k, e) < 0)
			return trace_fail(k->err, 0, "out of memory");
		kineto_pack_full(k);
		break;
	case ITEM_CHANGE:
		buf_put(&k->memory_change, &e->change, sizeof e->change);
		break;
	case ITEM_BROKEN:
		kineto_count(k, COUNT_BROKEN, "event %llu, at byte %zu", (unsigned long long)e->index,
			     (size_t)(e->at - source_base(k->source)));
		return 0;
	default:
		kineto_count(k, COUNT_BROKEN, "event %llu is not an object", (unsigned long long)e->index);
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
		if (take_event(k, &e) < 0)
			return -1;
	}
}
