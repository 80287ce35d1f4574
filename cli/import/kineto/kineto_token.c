/* Slow path: parses the text between two values of an event that is not in the cache yet, and adds it. */
#include <string.h>

#include "cli/import/json/json_fast.h"
#include "cli/import/rows/kineto.h"

#define LONGEST_KEY 64u                 /* bytes; longer than every key with a slot */

static inline bool key_is(const struct json_value *key, const char *word, size_t n)
{
	return key->n == n && memcmp(key->at, word, n) == 0;
}
#define KEY_IS(key, word) key_is(key, word, sizeof word - 1)

/* A token while it is parsed. */
struct new_token {
	struct token token;
	struct json_value category, key;
	bool plain;                     /* its bytes alone determine it, so it can be added to the list */
};

static enum arg_place place_of_key(const struct json_value *key)
{
	static const struct { const char *key; uint8_t n, place; } keys[] = {
#define ARG(key, place, doc) { key, sizeof key - 1, place },
#define SAME(key, place) { key, sizeof key - 1, place },
#include "cli/import/rows/kineto_args.def"
#undef ARG
#undef SAME
	};
	char text[LONGEST_KEY];
	const char *at = (const char *)key->at;
	size_t n = key->n;

	if (n > sizeof text)
		return ARG_OTHER;
	if (key->escaped) {
		n = json_text(key, text);
		at = text;
	}
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].n == n && memcmp(keys[i].key, at, n) == 0)
			return keys[i].place;
	return ARG_OTHER;
}

/* After a failed read: -1 at the end of the file, else 0, so that reading continues at the next event. */
static int ended(const struct json_value *v)
{
	return v->type == JSON_NOTHING ? -1 : 0;
}

/* "ph" or "cat": the value becomes part of the token, so that events of different kinds take different branches of the tree. */
static int with_value(struct scan *s, struct new_token *m, bool phase)
{
	struct json_value v;

	if (fast_value(s, &v) <= JSON_BAD)
		return ended(&v);
	m->token.what = GO_ON;
	if (v.type == JSON_TEXT && phase) {
		m->token.has_phase = true;
		m->token.phase = v.n == 1 ? (char)v.at[0] : 0;
	} else if (v.type == JSON_TEXT) {
		m->category = v;
	}
	/* Includes the comma: only the byte after a quote tells whether the quote ends the text. */
	m->plain &= v.type == JSON_TEXT && !v.escaped && s->p < s->end && *s->p == ',';
	s->p += m->plain;
	return 1;
}

/* Flow events (arrows).  They make no rows; only their times are read. */
static bool is_arrow(char phase)
{
	return phase == 's' || phase == 't' || phase == 'f';
}

static int behind_key(struct scan *s, struct new_token *m, const struct json_value *key, char phase)
{
	int c = fast_peek(s);

	if (c < 0)
		return -1;
	if (KEY_IS(key, "ph") || KEY_IS(key, "cat"))
		return with_value(s, m, key->n == 2);
	if (KEY_IS(key, "args") && c == '{') {
		s->p++;
		m->token.in_args = true;
		m->token.what = GO_ON;
		return 1;
	}
	m->plain &= !KEY_IS(key, "args");
	m->token.what = KEY_IS(key, "ts") ? TO_TS : is_arrow(phase) ? TO_NOTHING : KEY_IS(key, "dur") ? TO_DUR :
		      KEY_IS(key, "pid") ? TO_PID : KEY_IS(key, "tid") ? TO_TID : KEY_IS(key, "id") ? TO_ID :
		      KEY_IS(key, "name") ? TO_NAME : TO_NOTHING;
	return 1;
}

/* Parses up to the next value, or past one bracket.  Returns as event_read(). */
static int one_part(struct scan *s, struct new_token *m, char phase)
{
	struct json_value key;
	enum json_type type = fast_key(s, &key);

	if (type <= JSON_BAD)
		return type == JSON_NOTHING ? -1 : 0;
	if (type == JSON_OBJECT) {
		m->token.what = m->token.in_args ? GO_ON : BEHIND_EVENT;
		m->token.in_args = false;
		return 1;
	}
	if (!m->token.in_args)
		return behind_key(s, m, &key, m->token.has_phase ? m->token.phase : phase);
	m->key = key;
	m->plain &= !key.escaped;
	m->token.place = place_of_key(&key);
	switch (m->token.place) {
	case ARG_UNUSED:               m->token.what = TO_NOTHING; break;
	case ARG_OTHER:                m->token.what = TO_OTHER_ARG; break;
	case ARG_GRID: case ARG_BLOCK: m->token.what = TO_THREE; break;
	default:                       m->token.what = TO_ARG; break;
	}
	return fast_peek(s) < 0 ? -1 : 1;
}

/* Parses as many parts as fit a token, at least one. */
static int parts(struct scan *s, const uint8_t *since, struct new_token *m, char phase)
{
	struct new_token before;

	for (bool first = true;; first = false) {
		const uint8_t *from = s->p;
		uint64_t odd_quotes = s->odd_quotes;
		int rc;

		before = *m;
		rc = one_part(s, m, phase);
		if (rc != 1)
			return rc;
		m->plain &= s->odd_quotes == odd_quotes && s->p - since <= TOKEN_BYTES;
		if (!m->plain && !first) {      /* leave this part to the next token */
			*m = before;
			s->p = from;
			s->odd_quotes = odd_quotes;
			return 1;
		}
		if (!m->plain || m->token.what != GO_ON)
			return 1;
	}
}

static uint8_t place_in(const struct json_value *v, const uint8_t *since)
{
	return v->n ? (uint8_t)(v->at - since) : 0;
}

int event_token(struct kineto *k, struct event *e, struct token *from, const uint8_t *since, struct odd_token *odd, struct token **to)
{
	struct scan *s = &k->scan;
	struct new_token m = { .token.in_args = from->in_args, .plain = true };
	int rc;

	if (from == k->tokens.list) {
		m.token.brace = s->p - since < TOKEN_BYTES ? (uint8_t)(s->p - since) : 0;
		m.plain = s->p - since < TOKEN_BYTES;
		s->p++;
	}
	rc = parts(s, since, &m, e->phase);
	if (rc != 1)
		return rc;
	m.token.n_category = m.category.n < UINT8_MAX ? (uint8_t)m.category.n : UINT8_MAX;      /* longer: any number but 0 */
	m.token.n_key = (uint8_t)m.key.n;
	m.token.category = place_in(&m.category, since);
	m.token.key = place_in(&m.key, since);
	m.token.sets = m.token.has_phase || m.token.n_category;
	*to = from != &odd->token && m.plain ? token_cache_add(&k->tokens, from, &m.token, since, s->p) : NULL;
	if (!*to) {
		*odd = (struct odd_token){ .token = m.token, .category = m.category, .key = m.key };
		odd->token.number = 0;
		*to = &odd->token;
	}
	return 1;
}
