/* One event of a Kineto file: its members into struct event. */
#include <string.h>

#include "cli/import/json_fast.h"
#include "cli/import/kineto.h"

static inline bool key_is(const struct json_value *key, const char *word, size_t n)
{
	return key->n == n && memcmp(key->at, word, n) == 0;
}
#define KEY_IS(key, word) key_is(key, word, sizeof word - 1)

static int ended(const struct json_value *v)
{
	return v->type == JSON_NOTHING ? -1 : 0;
}

/* The text of a key.  Keys follow each other in the same order again and again, so the one before says what is likely. */
static inline uint32_t key_id(struct kineto *k, const struct json_value *key, uint32_t before)
{
	uint32_t likely = k->next_key[before];
	const struct text *t = &k->texts.list[likely];

	if (t->n == key->n && memcmp(t->at, key->at, key->n) == 0)
		return likely;
	likely = texts_value(&k->texts, key);
	k->next_key[before] = likely;
	return likely;
}

/* Also 7.0: what passed through a table of pandas. */
static bool whole(const struct json_value *v, int64_t *out)
{
	double d;

	if (json_whole(v, out))
		return true;
	if (v->type != JSON_NUMBER || !json_double(v, &d) || !(d > -0x1p53 && d < 0x1p53) || d != (double)(int64_t)d)
		return false;
	*out = (int64_t)d;
	return true;
}

/* The members of args; the scanner is behind its {. */
static int read_args(struct kineto *k, struct event *e)
{
	struct json_value key, v;
	enum json_type type;
	uint32_t before = 0;

	while ((type = fast_key(&k->scan, &key)) == JSON_TEXT) {
		uint32_t id = key_id(k, &key, before);
		enum arg_place place = id <= k->n_keys ? k->arg_places[id] : ARG_OTHER;

		type = fast_value(&k->scan, &v);
		if (type <= JSON_BAD)
			return type == JSON_NOTHING ? -1 : 0;
		before = id < NEXT_KEYS ? id : 0;
		if (place != ARG_OTHER) {
			e->args[place] = v;
			e->has |= 1ull << place;
			if (place != ARG_UNUSED && type <= JSON_NUMBER && whole(&v, &e->whole[place]))
				e->is_whole |= 1ull << place;
		} else if (e->n_others < OTHER_ARGS) {
			e->others[e->n_others++] = (struct other_arg){ id, v };
		} else {
			kineto_count(k, COUNT_VALUE, "more than %u arguments of event %llu", OTHER_ARGS,
				     (unsigned long long)e->index);
		}
	}
	return type == JSON_OBJECT ? 1 : type == JSON_NOTHING ? -1 : 0;
}

static void read_ts(struct event *e, const struct json_value *v)
{
	e->has_ts = json_us(v, &e->ts, &e->fraction);
	e->bad_time |= !e->has_ts && v->type != JSON_NULL;
}

static void read_dur(struct event *e, const struct json_value *v)
{
	bool fraction = false;
	int64_t us;

	e->has_dur = json_us(v, &e->dur, &fraction);
	if (!e->has_dur && json_whole(v, &us) && us < 0) {
		e->has_dur = true;      /* below 0, taken for an unsigned number by its writer */
		e->dur = us > INT64_MIN / 1000 ? us * 1000 : INT64_MIN;
	}
	e->bad_time |= !e->has_dur && v->type != JSON_NULL;
	if (e->has_dur && e->dur < 0) {
		e->negative = true;
		e->negative_dur = e->dur;
		e->dur = 0;
	}
}

/* One member of the event. */
static int member(struct kineto *k, struct event *e, const struct json_value *key)
{
	struct json_value v;
	int c;

	if (KEY_IS(key, "args")) {
		c = scan_peek(&k->scan);
		if (c == '{') {
			k->scan.p++;
			return read_args(k, e);
		}
	}
	if (fast_value(&k->scan, &v) <= JSON_BAD)
		return ended(&v);
	if (KEY_IS(key, "ts"))
		read_ts(e, &v);
	else if (KEY_IS(key, "dur"))
		read_dur(e, &v);
	else if (KEY_IS(key, "pid"))
		e->pid = v;
	else if (KEY_IS(key, "tid"))
		e->tid = v;
	else if (KEY_IS(key, "id"))
		e->id = v;
	else if (v.type != JSON_TEXT)
		return 1;
	else if (KEY_IS(key, "ph"))
		e->phase = v.n == 1 ? (char)v.at[0] : 0;
	else if (KEY_IS(key, "cat"))
		e->category = texts_value(&k->texts, &v);
	else if (KEY_IS(key, "name"))
		e->name = texts_value(&k->texts, &v);
	return 1;
}

int event_read(struct kineto *k, struct event *e)
{
	struct json_value key;
	enum json_type type;
	int rc;

	e->index = k->index;
	e->at = k->scan.p++;
	e->phase = 0;
	e->has_ts = e->has_dur = e->negative = e->fraction = e->bad_time = false;
	e->ts = e->dur = 0;
	e->name = e->category = 0;
	e->pid.type = e->tid.type = e->id.type = JSON_NULL;
	e->has = e->is_whole = 0;
	e->n_others = 0;
	while ((type = fast_key(&k->scan, &key)) == JSON_TEXT) {
		rc = member(k, e, &key);
		if (rc != 1)
			return rc;
	}
	return type == JSON_OBJECT ? 1 : type == JSON_NOTHING ? -1 : 0;
}
