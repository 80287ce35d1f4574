/* Reads a Kineto file: the members around the list of events, and errors of the whole file. */
#include <stdio.h>
#include <string.h>

#include "cli/import/bytes/source.h"
#include "cli/import/json/json_fast.h"
#include "cli/import/rows/kineto.h"
#include "trace/file.h"

/* Bytes of the longest event.  An event stays in memory until it is read, and compressed data may expand without limit. */
#define MOST_AT_ONCE (256u << 20)

static bool more(struct scan *s)
{
	struct kineto *k = s->arg;
	const uint8_t *base = source_base(k->source);
	size_t have = (size_t)(s->end - base), needed = (size_t)((k->needed ? k->needed : s->p) - base), now;

	if (have - needed > MOST_AT_ONCE && !k->gave_up) {
		k->gave_up = true;
		kineto_count(k, COUNT_CUT, "the element at byte %zu is longer than %u MiB", needed, MOST_AT_ONCE >> 20);
	}
	if (k->gave_up)
		return false;
	source_release(k->source, needed);
	now = source_wait(k->source, have);
	s->end = base + now;
	k->at_end = now == have;
	return now > have;
}

/* Why the bytes end too early; NULL: they do not, or reading stopped before their end, where the result would depend on timing. */
static const char *trouble_of(const struct kineto *k)
{
	return k->at_end ? source_trouble(k->source) : NULL;
}

/* ---- members around the events ---- */

#define NO_JSON (-2)

/* These read one member, as does read_devices().  0; -1: the file ends in it; NO_JSON: invalid JSON. */
static int read_distributed(struct kineto *k)
{
	struct json_value key, v;
	enum json_type type;
	int64_t whole;

	while ((type = scan_key(&k->scan, &key)) == JSON_TEXT) {
		type = scan_value(&k->scan, &v);
		if (type <= JSON_BAD)
			break;
		if (key.n == 4 && memcmp(key.at, "rank", 4) == 0 && json_whole(&v, &whole) && whole >= 0)
			k->file->rank = whole;
		else if (key.n == 10 && memcmp(key.at, "world_size", 10) == 0 && json_whole(&v, &whole) && whole > 0)
			k->file->world = whole;
		else if (v.type == JSON_TEXT || v.type == JSON_NUMBER) {
			char name[80];

			snprintf(name, sizeof name, "distributed.%.*s", key.n < 60 ? (int)key.n : 60, (const char *)key.at);
			kineto_fact(k, name, "%.*s", v.n < 300 ? (int)v.n : 300, (const char *)v.at);
		}
	}
	return type == JSON_OBJECT ? 0 : type == JSON_BAD ? NO_JSON : -1;
}

static int read_devices(struct kineto *k)
{
	struct json_value v;
	enum json_type type;

	for (;;) {
		int c = scan_peek(&k->scan);

		if (c == '{') {
			k->scan.p++;
			type = kineto_device(k);
			if (type <= JSON_BAD)
				return type == JSON_BAD ? NO_JSON : -1;
			continue;
		}
		if (c == ',' || c == ']')
			k->scan.p++;
		if (c == ']')
			return 0;
		if (c == ',')
			continue;
		type = scan_value(&k->scan, &v);
		if (type <= JSON_BAD)
			return type == JSON_BAD ? NO_JSON : -1;
	}
}

/* Keeps any other member that is a single value as an attribute. */
static void fact(struct kineto *k, const struct json_value *key, const struct json_value *v)
{
	char name[80];
	int64_t base;

	if (key->n == 19 && memcmp(key->at, "baseTimeNanoseconds", 19) == 0) {
		if (json_whole(v, &base)) {
			k->base = base;
			k->has_base = true;
		} else {
			kineto_count(k, COUNT_VALUE, "baseTimeNanoseconds is not an integer");
		}
	}
	if (v->type == JSON_OBJECT || v->type == JSON_LIST || v->type == JSON_NULL || key->n > 60)
		return;
	snprintf(name, sizeof name, "kineto.%.*s", (int)key->n, (const char *)key->at);
	kineto_fact(k, name, "%.*s", v->n < 300 ? (int)v->n : 300, (const char *)v->at);
}

/* Reads the next key of the file's object; its bytes are kept until its value was read. */
static enum json_type member(struct kineto *k, struct json_value *key)
{
	k->needed = NULL;
	while (scan_peek(&k->scan) == ',')
		k->scan.p++;
	k->needed = k->scan.p;
	return scan_key(&k->scan, key);
}

enum top { TOP_BAD = -2, TOP_CUT = -1, TOP_END, TOP_EVENTS };

/* Reads the members of the file's object; the scanner is after its {.  TOP_EVENTS if there was a list of events. */
static enum top read_object(struct kineto *k)
{
	struct json_value key, v;
	enum json_type type;
	enum top had = TOP_END;

	while ((type = member(k, &key)) == JSON_TEXT) {
		int c = scan_peek(&k->scan);
		int rc = 0;

		if (c == '[' && key.n == 11 && memcmp(key.at, "traceEvents", 11) == 0) {
			k->scan.p++;
			k->needed = NULL;
			had = TOP_EVENTS;
			rc = kineto_events(k);
		} else if (c == '[' && key.n == 16 && memcmp(key.at, "deviceProperties", 16) == 0) {
			k->scan.p++;
			rc = read_devices(k);
		} else if (c == '{' && key.n == 15 && memcmp(key.at, "distributedInfo", 15) == 0) {
			k->scan.p++;
			rc = read_distributed(k);
		} else {
			type = scan_value(&k->scan, &v);
			if (type == JSON_BAD)
				return had == TOP_EVENTS ? TOP_EVENTS : TOP_BAD;
			if (type == JSON_NOTHING)
				rc = -1;
			else
				fact(k, &key, &v);
		}
		if (rc == NO_JSON)
			return had == TOP_EVENTS ? TOP_EVENTS : TOP_BAD;
		if (rc < 0) {
			if (!k->err->text[0])
				kineto_count(k, COUNT_CUT, "complete events: %llu",
					     (unsigned long long)k->index);
			return had == TOP_EVENTS ? TOP_EVENTS : TOP_CUT;
		}
	}
	if (type == JSON_NOTHING)
		kineto_count(k, COUNT_CUT, "complete events: %llu", (unsigned long long)k->index);
	return type == JSON_BAD && had != TOP_EVENTS ? TOP_BAD : had;
}

#define START 12u                       /* bytes of a file that is not JSON, for the error message */

/* Copies the first START bytes for an error message; blanks, quotes and unprintable bytes become dots. */
static void say_start(const struct scan *s, char *text, size_t size)
{
	size_t n = 0;

	for (const uint8_t *p = s->p; p < s->end && p < s->p + START && n + 2 < size; p++)
		text[n++] = *p > ' ' && *p < 0x7f && *p != '\'' ? (char)*p : '.';
	text[n] = '\0';
}

/*
 * Moves to the first byte that is not a blank and returns it; waits for START bytes from there.  -1: the file is empty.
 * Unlike scan_peek(), this does not skip NULs: a file of NULs is rejected at once, not read to its end.
 */
static int first_byte(struct scan *s)
{
	for (;; s->p++) {
		if (s->p == s->end && !s->more(s))
			return -1;
		if (*s->p != ' ' && *s->p != '\n' && *s->p != '\r' && *s->p != '\t')
			break;
	}
	while (s->end - s->p < (ptrdiff_t)START && s->more(s))
		;
	return *s->p;
}

#define EXECUTION_TRACE "kineto.schema="        /* the attribute of the first member of an execution trace */

/* The error for JSON without events. */
static int no_events(struct kineto *k, const char *path, enum top top)
{
	bool cut = k->counts[COUNT_CUT].count;
	const char *trouble = cut ? trouble_of(k) : NULL, *middle = cut ? "; the file ends too early: get a complete copy" : "";

	if (trouble)
		return trace_fail(k->err, 0, "cannot read '%s': %s", path, trouble);
	if (k->gave_up)
		return trace_fail(k->err, 0, "'%s' is not a trace: %s", path, k->counts[COUNT_CUT].first);
	if (top != TOP_EVENTS)
		return trace_fail(k->err, 0, "'%s' is JSON, but not a trace: it has no traceEvents%s%s", path, middle,
				  k->attributes.len && memmem(k->attributes.data, k->attributes.len, EXECUTION_TRACE,
							      sizeof EXECUTION_TRACE - 1) ?
				  "; an execution trace has no times: use the trace of torch.profiler" : "");
	if (!k->index)
		return trace_fail(k->err, 0, "'%s' has no events%s", path, middle);
	return trace_fail(k->err, 0, "'%s' is JSON, but not a trace: no element of its list is an event%s%s", path, middle,
			  k->listed ? "; if it is a memory timeline, use the file named .raw.json.gz" : "");
}

static int read_top(struct kineto *k, const char *path)
{
	int c = first_byte(&k->scan);
	char start[20];
	enum top top = TOP_EVENTS;

	if (c == 0xef && k->scan.end - k->scan.p >= 3) {        /* UTF-8 byte order mark */
		k->scan.p += 3;
		c = first_byte(&k->scan);
	}
	if (c == '{') {
		k->scan.p++;
		top = read_object(k);
	} else if (c == '[') {
		k->scan.p++;
		if (kineto_events(k) < 0 && !k->err->text[0])
			kineto_count(k, COUNT_CUT, "complete events: %llu", (unsigned long long)k->index);
	} else if (c < 0) {
		const char *trouble = trouble_of(k);

		return trouble ? trace_fail(k->err, 0, "cannot read '%s': %s", path, trouble) :
		       trace_fail(k->err, 0, "'%s' is empty", path);
	} else {
		if (k->scan.end - k->scan.p >= 8 && memcmp(k->scan.p, FILE_MAGIC, 8) == 0)
			return trace_fail(k->err, 0, "'%s' is a trace of gprof-run and needs no import; if it is compressed, decompress it",
					  path);
		say_start(&k->scan, start, sizeof start);
		return trace_fail(k->err, 0, "'%s' is neither a trace of gprof-run nor JSON: it begins with '%s'", path, start);
	}
	k->needed = NULL;
	if (k->err->text[0])
		return -1;
	if (top == TOP_BAD)
		return trace_fail(k->err, 0, "'%s' is not valid JSON: unexpected data at byte %zu", path,
				  (size_t)(k->scan.p - source_base(k->source)));
	if (top != TOP_EVENTS || (!k->phased && !k->memory_change.len))
		return no_events(k, path, top);
	if (!k->counts[COUNT_CUT].count && scan_peek(&k->scan) >= 0)
		kineto_count(k, COUNT_BROKEN, "unexpected data after the end of the JSON");
	return 0;
}

int kineto_read(struct kineto *k, const char *path)
{
	int rc;

	k->source = source_open(path, k->err);
	if (!k->source)
		return -1;
	k->scan = (struct scan){ .p = source_base(k->source), .end = source_base(k->source), .more = more, .arg = k };
	scan_init(&k->scan);
	rc = read_top(k, path);
	if (rc == 0 && k->texts.oom)
		rc = trace_fail(k->err, 0, "out of memory");
	if (rc == 0 && trouble_of(k)) {
		k->counts[COUNT_CUT].count = 0;         /* replaces the message about the truncated JSON, which is a consequence */
		kineto_count(k, COUNT_CUT, "%s", trouble_of(k));
	}
	if (k->scan.odd_quotes) {
		kineto_count(k, COUNT_QUOTES, "in texts");
		k->counts[COUNT_QUOTES].count = k->scan.odd_quotes;
	}
	k->file->bytes = source_file_bytes(k->source);
	k->file->unpacked = (uint64_t)((k->at_end ? k->scan.end : k->scan.p) - source_base(k->source));
	k->file->events = k->index;
	source_close(k->source);
	k->source = NULL;
	return rc;
}
