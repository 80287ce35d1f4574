#include "inject/torch/torch_values.h"

#include "inject/core/health.h"
#include "inject/core/intern.h"
#include "inject/core/text.h"
#include "inject/core/scratch.h"
#include "inject/torch/id_cache.h"

#define TEXTS 32768u                    /* most distinct texts of a process */
#define TEXT  4000u

/*
 * Kind of an input, in the low byte of its word; the value follows.  A list's word has its elements' kind << 8 and their number << 32; its
 * values follow.
 */
enum { VALUE_NONE, VALUE_INT, VALUE_DOUBLE, VALUE_BOOL, VALUE_LIST };

static struct id_cache cache;
static uint32_t newest, n_texts, epoch; /* highest string id of a text, number of texts, and their process */

/* ---- reading ---- */

static unsigned kind_of(const struct torch_value *v, uint32_t bool_tag)
{
	if (v->tag == TORCH_INT)
		return VALUE_INT;
	if (v->tag == TORCH_DOUBLE)
		return VALUE_DOUBLE;
	/* Only the lowest byte of a bool is set. */
	return v->tag == bool_tag && (v->payload & 0xff) <= 1 ? VALUE_BOOL : VALUE_NONE;
}

static uint64_t number_of(const struct torch_value *v, unsigned kind)
{
	return kind == VALUE_BOOL ? v->payload & 0xff : v->payload;
}

static bool room(const struct torch_values *to, uint64_t words)
{
	return to->n + words <= TORCH_VALUE_WORDS;
}

void torch_values_none(struct torch_values *to)
{
	if (room(to, 1))
		to->words[to->n++] = VALUE_NONE;
}

void torch_values_number(struct torch_values *to, const struct torch_value *v, uint32_t bool_tag)
{
	unsigned kind = kind_of(v, bool_tag);

	if (kind == VALUE_NONE || !room(to, 2)) {
		torch_values_none(to);
		return;
	}
	to->words[to->n++] = kind;
	to->words[to->n++] = number_of(v, kind);
}

void torch_values_list(struct torch_values *to, const struct torch_value *v, uint64_t n, uint32_t bool_tag)
{
	unsigned kind = n ? kind_of(&v[0], bool_tag) : VALUE_INT;

	if (kind == VALUE_NONE || !room(to, 1 + n)) {
		torch_values_none(to);
		return;
	}
	to->words[to->n] = VALUE_LIST | kind << 8 | n << 32;
	for (uint64_t i = 0; i < n; i++) {
		if (v[i].tag != v[0].tag || (kind == VALUE_BOOL && (v[i].payload & 0xff) > 1)) {
			torch_values_none(to);
			return;
		}
		to->words[to->n + 1 + i] = number_of(&v[i], kind);
	}
	to->n += 1 + (uint32_t)n;
}

/* ---- text ---- */

/* A whole number within int64_t ends with a point, as written by c10::IValue's operator<<. */
static void append_double(struct text *t, uint64_t word)
{
	size_t from = t->n;
	double d;

	memcpy(&d, &word, sizeof d);
	if (d >= -0x1p63 && d < 0x1p63 && (double)(int64_t)d == d) {
		text_append(t, "%lld.", (long long)d);
		return;
	}
	text_append(t, "%.17g", d);
	for (size_t i = from; i < t->n; i++)
		if (t->out[i] == ',')   /* the program's locale */
			t->out[i] = '.';
}

static void append_number(struct text *t, unsigned kind, uint64_t word)
{
	if (kind == VALUE_DOUBLE)
		append_double(t, word);
	else if (kind == VALUE_BOOL)
		text_append(t, word ? "True" : "False");
	else
		text_append(t, "%lld", (long long)word);
}

void torch_values_text(const struct torch_values *values, char *out, size_t size)
{
	struct text t = { .out = out, .size = size };

	text_append(&t, "[");
	for (uint32_t i = 0; i < values->n;) {
		uint64_t word = values->words[i];
		unsigned kind = word & 0xff;

		text_append(&t, "%s\"", i++ ? ", " : "");
		if (kind == VALUE_LIST) {
			text_append(&t, "[");
			for (uint32_t k = 0; k < word >> 32 && i < values->n; k++) {
				text_append(&t, k ? ", " : "");
				append_number(&t, word >> 8 & 0xff, values->words[i++]);
			}
			text_append(&t, "]");
		} else if (kind != VALUE_NONE && i < values->n) {
			append_number(&t, kind, values->words[i++]);
		}
		text_append(&t, "\"");
	}
	text_append(&t, "]");
}

/* ---- ids ---- */

uint32_t torch_values_intern(struct stream *s, const struct torch_values *values, const char *name)
{
	uint64_t key = id_cache_key(values->words, values->n);
	uint32_t id, none;
	char *text;

	if (!values->n)
		return 0;
	if (likely(id_cache_get(&cache, key, &id, &none)))
		return id;
	if (unlikely(epoch != guest->epoch)) {
		newest = n_texts = 0;
		epoch = guest->epoch;
	}
	if (unlikely(n_texts >= TEXTS) && !strstr(name, "convolution")) {
		health_count(HEALTH_torch_values);
		return 0;
	}
	if (!(text = scratch_push(TEXT)))
		return 0;
	torch_values_text(values, text, TEXT);
	id = intern_text(s, text);
	scratch_pop(text);
	/* Ids grow: one above `newest` is a new text's. */
	if (id > newest) {
		newest = id;
		n_texts++;
	}
	if (id)
		id_cache_put(&cache, key, id, 0);
	return id;
}
