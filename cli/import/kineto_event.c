/* One event of a Kineto file: its members into struct event. */
#include <string.h>

#include "cli/import/json_fast.h"
#include "cli/import/kineto.h"

/* What a hop leads to: a value, or for texts of which there are few, behind it. */
enum hop_what {
	TO_NOTHING,                     /* a value that is not needed */
	TO_ARG, TO_NAME, TO_PID, TO_TID, TO_ID, TO_TS, TO_DUR,
	BEHIND_PHASE, BEHIND_CATEGORY,  /* hop.phase; hop.text */
	BEHIND_NOTHING,
	TO_ARGS,                        /* into their { */
	BEHIND_ARGS, BEHIND_EVENT,      /* their } */
};

static inline bool key_is(const struct json_value *key, const char *word, size_t n)
{
	return key->n == n && memcmp(key->at, word, n) == 0;
}
#define KEY_IS(key, word) key_is(key, word, sizeof word - 1)

/* A text without an end may have lost its quote: what follows is looked for all the same. */
static int ended(const struct json_value *v)
{
	return v->type == JSON_NOTHING ? -1 : 0;
}

/* ---- from value to value, letter by letter ---- */

/* "ph" or "cat": its value belongs to the hop, so that what follows it is told apart by it. */
static int hop_with_value(struct kineto *k, struct hop *h, bool phase, bool *plain)
{
	struct scan *s = &k->scan;
	struct json_value v;

	if (fast_value(s, &v) <= JSON_BAD)
		return ended(&v);
	h->what = v.type != JSON_TEXT ? BEHIND_NOTHING : phase ? BEHIND_PHASE : BEHIND_CATEGORY;
	if (h->what == BEHIND_PHASE)
		h->phase = v.n == 1 ? (char)v.at[0] : 0;
	else if (h->what == BEHIND_CATEGORY)
		h->text = texts_value(&k->texts, &v);
	/* With the comma: whether a quote ends a text is up to what follows it. */
	*plain &= v.type == JSON_TEXT && !v.escaped && s->p < s->end && *s->p == ',';
	s->p += *plain;
	return 1;
}

/* Arrows become no rows: of them only times are looked at. */
static bool is_arrow(const struct event *e)
{
	return e->phase == 's' || e->phase == 't' || e->phase == 'f';
}

static int hop_of_key(struct kineto *k, const struct event *e, struct hop *h, const struct json_value *key, bool *plain)
{
	int c = fast_peek(&k->scan);

	if (c < 0)
		return -1;
	if (KEY_IS(key, "ph") || KEY_IS(key, "cat"))
		return hop_with_value(k, h, key->n == 2, plain);
	if (KEY_IS(key, "args") && c == '{') {
		k->scan.p++;
		h->what = TO_ARGS;
		return 1;
	}
	*plain &= !KEY_IS(key, "args");
	h->what = KEY_IS(key, "ts") ? TO_TS : is_arrow(e) ? TO_NOTHING : KEY_IS(key, "dur") ? TO_DUR : KEY_IS(key, "pid") ? TO_PID :
		  KEY_IS(key, "tid") ? TO_TID : KEY_IS(key, "id") ? TO_ID : KEY_IS(key, "name") ? TO_NAME : TO_NOTHING;
	return 1;
}

/* A hop that was not met before; *to: it, in `odd` if it is none to keep.  As event_read(). */
static int new_hop(struct kineto *k, const struct event *e, const struct hop *from, bool in_args, struct hop *odd, const struct hop **to)
{
	struct scan *s = &k->scan;
	const uint8_t *at = s->p;
	uint64_t odd_quotes = s->odd_quotes;
	struct hop h = { .what = TO_NOTHING };
	struct json_value key;
	enum json_type type = fast_key(s, &key);
	bool plain = true;
	int rc = 1;

	if (type <= JSON_BAD)
		return type == JSON_NOTHING ? -1 : 0;
	if (type == JSON_OBJECT) {
		h.what = in_args ? BEHIND_ARGS : BEHIND_EVENT;
	} else if (in_args) {
		h.what = TO_ARG;
		h.text = texts_value(&k->texts, &key);
		h.place = h.text <= k->n_keys ? k->arg_places[h.text] : ARG_OTHER;
		rc = fast_peek(s) < 0 ? -1 : 1;
	} else {
		rc = hop_of_key(k, e, &h, &key, &plain);
	}
	if (rc != 1)
		return rc;
	*to = from == odd || !plain || s->odd_quotes != odd_quotes ? NULL : hop_learn(&k->hops, from, &h, at, s->p);
	if (!*to) {
		*odd = h;
		*to = odd;
	}
	return 1;
}

/* ---- values ---- */

/* Digits, as nearly all numbers are.  False: something else, and nothing is read. */
static inline bool plain_whole(struct scan *s, struct event_number *n)
{
	uint64_t whole;
	const uint8_t *end = fast_whole(s, s->p, &whole);

	if (!end || !fast_ends_number(*end))
		return false;
	n->value = (struct json_value){ s->p, (size_t)(end - s->p), JSON_NUMBER, false };
	n->is_whole = true;
	n->whole = (int64_t)whole;
	s->p = end;
	return true;
}

static int read_number(struct kineto *k, struct event_number *n)
{
	if (plain_whole(&k->scan, n))
		return 1;
	if (fast_value(&k->scan, &n->value) <= JSON_BAD)
		return ended(&n->value);
	n->is_whole = json_whole(&n->value, &n->whole);
	return 1;
}

static inline bool plain_number(struct scan *s)
{
	const uint8_t *p = fast_digits(s->p);

	if (p == s->p || p >= s->end || !fast_ends_number(*p))
		return false;
	s->p = p;
	return true;
}

/* Also 7.0: what passed through a table of pandas. */
static bool whole_of(const struct json_value *v, int64_t *out)
{
	double d;

	if (json_whole(v, out))
		return true;
	if (v->type != JSON_NUMBER || !json_double(v, &d) || !(d > -0x1p53 && d < 0x1p53) || d != (double)(int64_t)d)
		return false;
	*out = (int64_t)d;
	return true;
}

static inline int read_other_arg(struct kineto *k, struct event *e, uint32_t key)
{
	struct event_number n = { .is_whole = false };
	enum json_type type = plain_whole(&k->scan, &n) ? JSON_NUMBER : fast_value(&k->scan, &n.value);

	if (type <= JSON_BAD)
		return type == JSON_NOTHING ? -1 : 0;
	if (e->n_others < OTHER_ARGS)
		e->others[e->n_others++] = (struct other_arg){ key, n };
	else
		kineto_count(k, COUNT_VALUE, "more than %u arguments of event %llu", OTHER_ARGS, (unsigned long long)e->index);
	return 1;
}

static inline int read_arg(struct kineto *k, struct event *e, const struct hop *h)
{
	struct scan *s = &k->scan;
	struct event_number n = { .is_whole = false };
	enum json_type type;

	if (h->place == ARG_OTHER)
		return read_other_arg(k, e, h->text);
	if (h->place == ARG_UNUSED && plain_number(s))
		return 1;
	if (!plain_whole(s, &n)) {
		type = fast_value(s, &n.value);
		if (type <= JSON_BAD)
			return type == JSON_NOTHING ? -1 : 0;
		n.is_whole = h->place != ARG_UNUSED && type <= JSON_NUMBER && whole_of(&n.value, &n.whole);
	}
	e->has |= 1ull << h->place;
	e->is_whole |= (uint64_t)n.is_whole << h->place;
	e->args[h->place] = n.value;
	e->whole[h->place] = n.whole;
	return 1;
}

/* Microseconds as nearly all are written: digits, perhaps a point and three more.  False: otherwise, and nothing is read. */
static inline bool plain_us(struct scan *s, int64_t *ns, bool *fraction)
{
	uint64_t whole;
	const uint8_t *p = fast_whole(s, s->p, &whole);

	if (!p || whole > 9000000000000000)
		return false;
	whole *= 1000;
	if (*p == '.') {
		unsigned a = p[1] - '0', b = p[2] - '0', c = p[3] - '0';

		if (a > 9 || b > 9 || c > 9)
			return false;
		whole += a * 100 + b * 10 + c;
		*fraction = true;
		p += 4;
	}
	if (!fast_ends_number(*p))
		return false;
	*ns = (int64_t)whole;
	s->p = p;
	return true;
}

static int read_ts(struct kineto *k, struct event *e)
{
	struct json_value v;

	if (plain_us(&k->scan, &e->ts, &e->fraction)) {
		e->has_ts = true;
		return 1;
	}
	if (fast_value(&k->scan, &v) <= JSON_BAD)
		return ended(&v);
	e->has_ts = json_us(&v, &e->ts, &e->fraction);
	e->bad_time |= !e->has_ts && v.type != JSON_NULL;
	return 1;
}

static int read_dur(struct kineto *k, struct event *e)
{
	struct json_value v;
	bool fraction = false;
	int64_t whole;

	if (plain_us(&k->scan, &e->dur, &fraction)) {
		e->has_dur = true;
		return 1;
	}
	if (fast_value(&k->scan, &v) <= JSON_BAD)
		return ended(&v);
	e->has_dur = json_us(&v, &e->dur, &fraction);
	if (!e->has_dur && json_whole(&v, &whole) && whole < 0) {
		e->has_dur = true;      /* below 0, taken for an unsigned number by its writer */
		e->dur = whole > INT64_MIN / 1000 ? whole * 1000 : INT64_MIN;
	}
	e->bad_time |= !e->has_dur && v.type != JSON_NULL;
	if (e->has_dur && e->dur < 0) {
		e->negative = true;
		e->negative_dur = e->dur;
		e->dur = 0;
	}
	return 1;
}

static inline int read_name(struct kineto *k, struct event *e)
{
	struct json_value v;

	if ((*k->scan.p == '"' ? fast_text(&k->scan, &v) : fast_value(&k->scan, &v)) <= JSON_BAD)
		return ended(&v);
	if (v.type == JSON_TEXT)
		e->name = texts_value(&k->texts, &v);
	return 1;
}

static inline int read_nothing(struct kineto *k)
{
	struct json_value v;

	return plain_number(&k->scan) || fast_value(&k->scan, &v) > JSON_BAD ? 1 : ended(&v);
}

static inline int read_value(struct kineto *k, struct event *e, const struct hop *h)
{

	switch (h->what) {
	case TO_ARG:  return read_arg(k, e, h);
	case TO_NAME: return read_name(k, e);
	case TO_PID:  return read_number(k, &e->pid);
	case TO_TID:  return read_number(k, &e->tid);
	case TO_ID:   return read_number(k, &e->id);
	case TO_TS:   return read_ts(k, e);
	case TO_DUR:  return read_dur(k, e);
	default:      return read_nothing(k);
	}
}

static void begin(struct kineto *k, struct event *e)
{
	e->index = k->index;
	e->at = k->scan.p++;
	e->phase = 0;
	e->has_ts = e->has_dur = e->negative = e->fraction = e->bad_time = false;
	e->ts = e->dur = 0;
	e->name = e->category = 0;
	e->pid = e->tid = e->id = (struct event_number){ .value.type = JSON_NULL };
	e->has = e->is_whole = 0;
	e->n_others = 0;
}

int event_read(struct kineto *k, struct event *e)
{
	const struct hop *h = k->hops.list, *next;
	struct hop odd = { .what = TO_NOTHING };
	bool in_args = false;
	int rc = 1;

	begin(k, e);
	for (; rc == 1; h = next) {
		next = hop_find(&k->hops, h, k->scan.p, k->scan.end);
		if (next)
			k->scan.p += next->n;
		else if ((rc = new_hop(k, e, h, in_args, &odd, &next)) != 1)
			break;
		switch (next->what) {
		case BEHIND_EVENT:    return 1;
		case BEHIND_PHASE:    e->phase = next->phase; break;
		case BEHIND_CATEGORY: e->category = next->text; break;
		case BEHIND_NOTHING:  break;
		case TO_ARGS: case BEHIND_ARGS:
			in_args = next->what == TO_ARGS;
			break;
		default:
			rc = read_value(k, e, next);
			break;
		}
	}
	return rc;
}
