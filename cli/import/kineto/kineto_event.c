/*
 * Parses one event of a Kineto file into struct event, value by value.  The text between two values is compared with known
 * tokens (token_cache.h); an unknown one is parsed (kineto_token.c).
 */
#include <string.h>

#include "cli/import/json/json_fast.h"
#include "cli/import/rows/kineto.h"

/* After a failed read: -1 at the end of the file, else 0, so that reading continues at the next event. */
static int ended(const struct json_value *v)
{
	return v->type == JSON_NOTHING ? -1 : 0;
}

/*
 * ---- fast paths for the usual spelling; the bytes must be available ----
 *
 * Each returns the byte after the value, or NULL: another spelling, nothing was read.
 */

/* Digits only. */
static inline const uint8_t *plain_whole(const uint8_t *p, int64_t *n)
{
	uint64_t whole;

	p = fast_whole(p, &whole);
	if (!p || !scan_ends_number[*p])
		return NULL;
	*n = (int64_t)whole;
	return p;
}

static inline const uint8_t *plain_id(const uint8_t *p, struct event_number *n)
{
	p = plain_whole(p, &n->whole);
	if (p) {
		n->value.type = JSON_NUMBER;
		n->is_whole = true;
	}
	return p;
}

/*
 * Digits, or up to 8 digits, a point and up to 7 digits.  Integers of up to 15 digits and powers of ten are exact doubles, so
 * their quotient is correctly rounded.
 */
static inline const uint8_t *plain_number(const uint8_t *p, struct event_number *n)
{
	static const uint32_t tens[8] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	uint64_t whole, digits;
	unsigned bits;
	double d;

	p = fast_whole(p, &whole);
	if (!p)
		return NULL;
	if (*p != '.') {
		n->value.type = JSON_NUMBER;
		n->is_whole = true;
		n->whole = (int64_t)whole;
		return scan_ends_number[*p] ? p : NULL;
	}
	bits = fast_digit_bits(++p, &digits);
	p += bits >> 3;
	if (!bits || bits == 64 || whole >= 100000000 || !scan_ends_number[*p])
		return NULL;
	d = (double)(whole * tens[bits >> 3] + fast_eight(digits << (64 - bits))) / tens[bits >> 3];
	memcpy(&n->whole, &d, sizeof d);
	n->value.type = JSON_NUMBER;
	n->is_double = true;
	return p;
}

/* [1, 2, 3] of up to 7 digits each: a grid or block. */
static inline const uint8_t *plain_three(const uint8_t *p, uint32_t three[3])
{
	if (*p != '[')
		return NULL;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t digits;
		unsigned bits = fast_digit_bits(++p, &digits);

		p += bits >> 3;
		if (!bits || bits == 64 || *p != (i < 2 ? ',' : ']'))
			return NULL;
		three[i] = (uint32_t)fast_eight(digits << (64 - bits));
		p += p[1] == ' ';
	}
	return p + 1;
}

/* A name that was read before; p is at its quote. */
static inline const uint8_t *known_name(struct kineto *k, const uint8_t *p, struct event *e)
{
	const struct recent *r = *p == '"' ? texts_recent(k->texts.names, p + 1, (size_t)(k->scan.end - p)) : NULL;

	if (!r || k->scan.end - p < (ptrdiff_t)r->n + 3 || p[1 + r->n] != '"' || p[2 + r->n] != ',')
		return NULL;
	e->name = r->text;
	return p + 2 + r->n;
}

static inline const uint8_t *known_list(struct kineto *k, const uint8_t *p, struct json_value *v, int64_t *text)
{
	const struct recent *r = *p == '[' ? texts_recent(k->texts.lists, p, (size_t)(k->scan.end - p)) : NULL;

	if (!r)
		return NULL;
	v->type = JSON_LIST;
	v->at = p;
	v->n = r->n;
	*text = r->text;
	return p + r->n;
}

/* Microseconds with up to three decimals. */
static inline const uint8_t *plain_us(const uint8_t *p, int64_t *ns, bool *fraction)
{
	static const uint32_t scale[4] = { 0, 100, 10, 1 };
	uint64_t whole;

	p = fast_whole(p, &whole);
	if (!p || whole > 9000000000000000)
		return NULL;
	whole *= 1000;
	if (*p == '.') {
		uint64_t digits;
		unsigned bits = fast_digit_bits(++p, &digits);

		if (!bits || bits > 24)
			return NULL;
		whole += fast_eight(digits << (64 - bits)) * scale[bits >> 3];
		*fraction = true;
		p += bits >> 3;
	}
	if (!scan_ends_number[*p])
		return NULL;
	*ns = (int64_t)whole;
	return p;
}

/* A number that is skipped. */
static inline const uint8_t *plain_unneeded(const uint8_t *p)
{
	const uint8_t *end = fast_digits(p);

	return end > p && scan_ends_number[*end] ? end : NULL;
}

/* ---- values at s->p in any spelling; return as event_read() ---- */

static int odd_number(struct scan *s, struct event_number *n)
{
	if (fast_value(s, &n->value) <= JSON_BAD)
		return ended(&n->value);
	n->is_whole = json_whole(&n->value, &n->whole);
	n->is_double = n->is_text = false;
	return 1;
}

/* Also accepts 7.0, which pandas writes for integers. */
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

static int odd_arg(struct scan *s, struct event *e, enum arg_place place)
{
	struct json_value *v = &e->args[place];
	int64_t whole = 0;

	if (fast_value(s, v) <= JSON_BAD)
		return ended(v);
	e->has |= 1ull << place;
	e->plain &= ~(1ull << place);
	e->threes &= ~(1ull << place);
	e->known &= ~(1ull << place);
	e->is_whole &= ~(1ull << place);
	if (v->type <= JSON_NUMBER && whole_of(v, &whole))
		e->is_whole |= 1ull << place;
	e->whole[place] = whole;
	return 1;
}

static int odd_ts(struct scan *s, struct event *e)
{
	struct json_value v;

	if (fast_value(s, &v) <= JSON_BAD)
		return ended(&v);
	e->has_ts = json_us(&v, &e->ts, &e->fraction);
	e->bad_time |= !e->has_ts && v.type != JSON_NULL;
	return 1;
}

static int odd_dur(struct scan *s, struct event *e)
{
	struct json_value v;
	bool fraction = false;
	int64_t whole;

	if (fast_value(s, &v) <= JSON_BAD)
		return ended(&v);
	e->has_dur = json_us(&v, &e->dur, &fraction);
	if (!e->has_dur && json_whole(&v, &whole) && whole < 0) {
		e->has_dur = true;      /* a negative value that the writer printed as unsigned */
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

static int name(struct scan *s, struct event *e)
{
	struct json_value *v = &e->name_value;

	e->name = 0;
	if ((*s->p == '"' ? fast_text(s, v) : fast_value(s, v)) <= JSON_BAD)
		return ended(v);
	if (v->type != JSON_TEXT)
		v->n = 0;
	return 1;
}

static int odd_value(struct kineto *k, struct event *e, const struct token *h, struct event_number *other)
{
	struct scan *s = &k->scan;
	struct json_value v;

	switch (h->what) {
	case TO_ARG: case TO_THREE: return odd_arg(s, e, h->place);
	case TO_OTHER_ARG: return odd_number(s, other);
	case TO_NAME:      return name(s, e);
	case TO_PID:       return odd_number(s, &e->pid);
	case TO_TID:       return odd_number(s, &e->tid);
	case TO_ID:        return odd_number(s, &e->id);
	case TO_TS:        return odd_ts(s, e);
	case TO_DUR:       return odd_dur(s, e);
	default:           return fast_value(s, &v) > JSON_BAD ? 1 : ended(&v);
	}
}

/* ---- the event ---- */

static inline void begin(struct event *e, uint64_t index)
{
	e->index = index;
	e->phase = 0;
	e->has_ts = e->has_dur = e->negative = e->fraction = e->bad_time = false;
	e->ts = e->dur = 0;
	e->name = 0;
	e->name_value.n = e->category_word.v.n = 0;
	e->pid.is_whole = e->tid.is_whole = e->id.is_whole = false;
	e->pid.value.type = e->tid.value.type = e->id.value.type = JSON_NULL;
	e->has = e->is_whole = e->plain = e->known = e->threes = 0;
	e->n_others = e->n_lost = 0;
}

/* Assigns field by field: assigning a whole struct goes through the stack and stalls on store forwarding. */
static inline void set_word(struct word *w, const struct token *h, unsigned at, unsigned n, const struct odd_token *odd,
			    const struct json_value *v)
{
	w->token = h->number;
	w->v.type = JSON_TEXT;
	if (h == &odd->token) {
		w->v.at = v->at;
		w->v.n = v->n;
		w->v.escaped = v->escaped;
	} else {
		w->v.at = h->bytes + at;
		w->v.n = n;
		w->v.escaped = false;
	}
}

/* Returns where the next argument without a slot is stored; `none` if there are OTHER_ARGS already. */
static inline struct event_number *other_arg(struct event *e, const struct token *h, const struct odd_token *odd, struct event_number *none)
{
	struct other_arg *o = &e->others[e->n_others];

	if (e->n_others == OTHER_ARGS) {
		e->n_lost++;
		return none;
	}
	e->n_others++;
	set_word(&o->key, h, h->key, h->n_key, odd, &odd->key);
	o->number.is_whole = o->number.is_double = o->number.is_text = false;
	return &o->number;
}

static inline void set_words(struct event *e, const struct token *h, const struct odd_token *odd)
{
	if (h->has_phase)
		e->phase = h->phase;
	if (h->n_category)
		set_word(&e->category_word, h, h->category, h->n_category, odd, &odd->category);
}

/* Parses the new token after *h, and its value; *h becomes the new token.  Returns as event_read(). */
static int slow_part(struct kineto *k, struct event *e, struct token **h, const uint8_t *since, struct odd_token *odd)
{
	struct event_number none, *other = &none;
	int rc = event_token(k, e, *h, since, odd, h);

	if (rc != 1)
		return rc;
	set_words(e, *h, odd);
	if ((*h)->what == TO_OTHER_ARG)
		other = other_arg(e, *h, odd, &none);
	return (*h)->what == GO_ON || (*h)->what == BEHIND_EVENT ? 1 : odd_value(k, e, *h, other);
}

int event_read(struct kineto *k, struct event *e, const uint8_t *since, struct token *first)
{
	struct scan *s = &k->scan;
	struct token *from = k->tokens.list, *h = first;
	struct event_number none, *other = &none;
	struct odd_token odd;
	const uint8_t *p = since, *end;
	int rc;

	begin(e, k->index);
	e->at = first ? since + first->brace : s->p;
	for (;; from = h, h = s->end - p >= TOKEN_ROOM ? token_cache_find(from, p) : NULL, s->p = p) {
		if (!h) {
			h = from;
			rc = slow_part(k, e, &h, p, &odd);
			if (rc != 1)
				return rc;
			p = s->p;
			if (h->what == BEHIND_EVENT)
				break;
			continue;
		}
		p += h->n;
		if (h->sets)
			set_words(e, h, &odd);
		switch (h->what) {
		case TO_ARG:
			end = plain_whole(p, &e->whole[h->place]);
			if (end) {
				e->plain |= 1ull << h->place;
				break;
			}
			end = known_list(k, p, &e->args[h->place], &e->whole[h->place]);
			if (end) {
				e->has |= 1ull << h->place;
				e->known |= 1ull << h->place;
				e->plain &= ~(1ull << h->place);
			}
			break;
		case TO_THREE:
			end = plain_three(p, e->three[h->place == ARG_BLOCK]);
			if (end) {
				e->has |= 1ull << h->place;
				e->threes |= 1ull << h->place;
				e->args[h->place].at = p;
				e->args[h->place].n = (size_t)(end - p);
				e->args[h->place].type = JSON_LIST;
			}
			break;
		case TO_OTHER_ARG:
			other = other_arg(e, h, &odd, &none);
			end = plain_number(p, other);
			if (!end) {
				end = known_list(k, p, &other->value, &other->whole);
				other->is_text = end != NULL;
			}
			break;
		case TO_PID: end = plain_id(p, &e->pid); break;
		case TO_TID: end = plain_id(p, &e->tid); break;
		case TO_ID:  end = plain_id(p, &e->id); break;
		case TO_TS:
			end = plain_us(p, &e->ts, &e->fraction);
			e->has_ts |= end != NULL;
			break;
		case TO_DUR:
			end = plain_us(p, &e->dur, &(bool){ false });
			e->has_dur |= end != NULL;
			break;
		case TO_NOTHING: end = plain_unneeded(p); break;
		case TO_NAME:    end = known_name(k, p, e); break;
		case GO_ON:      end = p; break;
		default:         end = p; goto out;     /* BEHIND_EVENT */
		}
		if (end) {
			p = end;
			continue;
		}
		s->p = p;
		rc = odd_value(k, e, h, other);
		if (rc != 1)
			return rc;
		p = s->p;
	}
out:
	s->p = p;
	e->end = p;
	e->has |= e->plain;
	e->is_whole |= e->plain;
	return 1;
}
