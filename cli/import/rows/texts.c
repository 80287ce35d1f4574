#include "cli/import/rows/texts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/json/json_scan.h"
#include "cli/model/map.h"
#include "trace/grow.h"

#define BLOCK (1u << 20)
#define MOST  (1u << 30)                /* texts; numbers must fit string ids */

struct text_block {
	struct text_block *next;
};

static inline uint64_t load(const char *p, size_t n)
{
	uint64_t v = 0;

	if (n >= 8)
		memcpy(&v, p, 8);
	else
		memcpy(&v, p, n);
	return v;
}

static inline uint32_t hash_of(const uint64_t secret[2], const char *p, size_t n)
{
	uint64_t h = n;

	if (n < 8) {
		uint64_t v;

		if (n >= 4) {
			uint32_t a, b;

			memcpy(&a, p, 4);
			memcpy(&b, p + n - 4, 4);
			v = (uint64_t)a << 32 | b;
		} else {
			v = n ? (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)p[n - 1] : 0;
		}
		return (uint32_t)hash_mix(secret, v, h);
	}
	for (; n > 16; n -= 16, p += 16)
		h = hash_mix(secret, load(p, 8) ^ h, load(p + 8, 8));
	/* The last 16 bytes or fewer, as two words that may overlap. */
	return (uint32_t)(n >= 8 ? hash_mix(secret, load(p, 8) ^ h, load(p + n - 8, 8)) : hash_mix(secret, h, load(p, n)));
}

static bool grow(struct texts *t)
{
	if (t->n >= MOST || !GROW(t->list, t->n + 1, t->cap))
		return false;
	if (!t->n)
		t->list[t->n++] = (struct interned_text){ .at = "" };
	if (!t->places || t->n * 2 > t->mask) {
		uint32_t size = t->places ? (t->mask + 1) * 2 : 4096;
		uint32_t *places = calloc(size, sizeof *places);

		if (!places)
			return false;
		for (unsigned i = 0; i < 2 && !t->places; i++)
			t->secret[i] = hash_secret(i);
		for (uint32_t i = 1; i < t->n; i++) {
			uint32_t at = t->list[i].hash & (size - 1);

			while (places[at])
				at = (at + 1) & (size - 1);
			places[at] = i;
		}
		free(t->places);
		t->places = places;
		t->mask = size - 1;
	}
	return true;
}

static const char *keep(struct texts *t, const char *at, size_t n)
{
	char *to;

	if (t->left < n + 1) {
		size_t size = n + 1 > BLOCK / 4 ? n + 1 : BLOCK;
		struct text_block *b = malloc(sizeof *b + size);

		if (!b)
			return NULL;
		b->next = t->blocks;
		t->blocks = b;
		if (size != BLOCK) {
			to = (char *)(b + 1);
			goto copy;
		}
		t->room = (char *)(b + 1);
		t->left = size;
	}
	to = t->room;
	t->room += n + 1;
	t->left -= n + 1;
copy:
	memcpy(to, at, n);
	to[n] = '\0';
	return to;
}

/* Mixed into the hash of a text as the file spells it: it is a different text than the same bytes in normalized form. */
#define AS_SPELLED 0x55555555u

static inline uint32_t put_text(struct texts *t, const char *at, size_t n, uint32_t spelling)
{
	uint32_t hash, place;
	const char *kept;

	if (!n)
		return 0;
	if (!t->places && !grow(t))
		goto oom;
	hash = hash_of(t->secret, at, n) ^ spelling;
	for (place = hash & t->mask; t->places[place]; place = (place + 1) & t->mask) {
		const struct interned_text *old = &t->list[t->places[place]];

		if (old->hash == hash && old->n == n && memcmp(old->at, at, n) == 0)
			return t->places[place];
	}
	if (n > UINT32_MAX / 2 || !grow(t) || !(kept = keep(t, at, n)))
		goto oom;
	for (place = hash & t->mask; t->places[place]; place = (place + 1) & t->mask)
		;
	t->list[t->n] = (struct interned_text){ .at = kept, .n = (uint32_t)n, .hash = hash };
	t->places[place] = t->n;
	return t->n++;
oom:
	t->oom = true;
	return 0;
}

uint32_t texts_put(struct texts *t, const char *at, size_t n)
{
	return put_text(t, at, n, 0);
}

static char *scratch(struct texts *t, size_t n)
{
	if (t->scratch_size < n) {
		free(t->scratch);
		t->scratch = malloc(n * 2);
		t->scratch_size = t->scratch ? n * 2 : 0;
		t->oom |= !t->scratch;
	}
	return t->scratch;
}

uint32_t texts_value(struct texts *t, const struct json_value *v)
{
	if (!v->escaped)
		return texts_put(t, (const char *)v->at, v->n);
	return scratch(t, v->n + 1) ? texts_put(t, t->scratch, json_text(v, t->scratch)) : 0;
}

/* Normalizes blanks outside of texts (texts_json()).  Returns the number of bytes, at most 2 * v->n. */
static size_t rewrite(const struct json_value *v, char *out)
{
	const uint8_t *end = v->at + v->n;
	bool inside = false;
	char *o = out;

	for (const uint8_t *p = v->at; p < end; p++) {
		if (inside) {
			*o++ = (char)*p;
			if (*p == '\\' && p + 1 < end)
				*o++ = (char)*++p;
			else if (*p == '"')
				inside = false;
			continue;
		}
		if (*p <= ' ')
			continue;
		inside = *p == '"';
		*o++ = (char)*p;
		if (*p == ',' || *p == ':')
			*o++ = ' ';
	}
	return (size_t)(o - out);
}

uint32_t texts_json(struct texts *t, const struct json_value *v, uint32_t *raw)
{
	uint32_t id = put_text(t, (const char *)v->at, v->n, AS_SPELLED), as;

	*raw = id;
	if (!id || t->list[id].as)
		return t->list ? t->list[id].as : 0;
	if (!scratch(t, v->n * 2 + 2))
		return 0;
	as = texts_put(t, t->scratch, rewrite(v, t->scratch));
	t->list[id].as = as;
	return as;
}

void texts_free(struct texts *t)
{
	for (struct text_block *b = t->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(t->list);
	free(t->places);
	free(t->scratch);
	*t = (struct texts){ 0 };
}
