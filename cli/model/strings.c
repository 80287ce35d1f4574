/* String ids of the model: equal texts of all processes have one id. */
#include "cli/model/inside.h"

#include <stdio.h>

#include "trace/grow.h"

#define BLOCK (64u << 10)

/* The xored halves of the product; with a secret factor, collisions cannot be predicted. */
static uint64_t folded(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_text(const struct strings *s, const char *text, size_t n)
{
	uint64_t h = s->secret + n, other = ~s->secret * 0x9e3779b97f4a7c15ull, words[2];

	for (; n > sizeof words; n -= sizeof words, text += sizeof words) {
		memcpy(words, text, sizeof words);
		h = folded(words[0] ^ other, words[1] ^ h);
	}
	words[0] = words[1] = 0;
	memcpy(words, text, n);
	h = folded(words[0] ^ other, words[1] ^ h);
	return (uint32_t)(h ^ h >> 32);
}

const char *strings_keep(struct model *m, const char *text, size_t n)
{
	struct strings *s = &m->strings;

	if (s->left < n + 1) {
		size_t size = n + 1 > BLOCK ? n + 1 : BLOCK;
		struct memory *block = malloc(sizeof *block + size);

		if (!block)
			return NULL;
		block->next = s->blocks;
		s->blocks = block;
		s->room = (char *)(block + 1);
		s->left = size;
	}
	char *copy = s->room;

	memcpy(copy, text, n);
	copy[n] = '\0';
	s->room += n + 1;
	s->left -= n + 1;
	return copy;
}

static bool places_grow(struct strings *s)
{
	size_t size = s->places ? (s->mask + 1) * 2 : 1024;
	uint32_t *places = calloc(size, sizeof *places);

	if (!places)
		return false;
	if (!s->places)
		s->secret = hash_secret(1);
	for (uint32_t id = 0; id < s->n; id++) {
		size_t at = s->hashes[id] & (size - 1);

		while (places[at])
			at = (at + 1) & (size - 1);
		places[at] = id + 1;
	}
	free(s->places);
	s->places = places;
	s->mask = size - 1;
	return true;
}

/* Id of n bytes, which contain no zero; MAP_NONE: out of memory. */
static uint32_t intern(struct model *m, const char *text, size_t n)
{
	struct strings *s = &m->strings;
	uint32_t hash;
	size_t at, cap;

	if ((!s->places || s->n * 2ull > s->mask) && !places_grow(s))
		return MAP_NONE;
	hash = hash_text(s, text, n);
	for (at = hash & s->mask; s->places[at]; at = (at + 1) & s->mask) {
		uint32_t id = s->places[at] - 1;

		if (s->hashes[id] == hash && strncmp(s->texts[id], text, n) == 0 && !s->texts[id][n])
			return id;
	}
	cap = s->cap;
	if (!GROW(s->texts, s->n + 1, cap) || !GROW(s->hashes, s->n + 1, s->cap))
		return MAP_NONE;
	text = strings_keep(m, text, n);
	if (!text)
		return MAP_NONE;
	s->hashes[s->n] = hash;
	s->texts[s->n++] = text;
	s->places[at] = s->n;
	return s->n - 1;
}

uint32_t model_intern(struct model *m, const char *text)
{
	return strings_load(m) < 0 ? MAP_NONE : intern(m, text, strlen(text));
}

const char *model_string(struct model *m, uint32_t id)
{
	char text[16];

	if (strings_load(m) < 0)
		return "?";
	if (id & STRING_LOST) {
		snprintf(text, sizeof text, "?%u", id & ~STRING_LOST);
		id = intern(m, text, strlen(text));
	}
	return id < m->strings.n ? m->strings.texts[id] : "?";
}

uint32_t string_id(const struct model *m, uint32_t process, uint32_t id)
{
	const struct string_ids *ids = &m->strings.ids[process];
	uint32_t found = id < ids->n ? ids->dense[id] : MAP_NONE;

	/* An id that went to the map may be below the end of an array that has grown since. */
	if (found == MAP_NONE || found & STRING_LOST)
		found = map_get(&ids->rest, id);
	return found != MAP_NONE ? found : STRING_LOST | id;
}

const char *model_file_string(struct model *m, uint32_t number, uint32_t id)
{
	return strings_load(m) < 0 ? "?" : model_string(m, string_id(m, model_process_at(m, number), id));
}

static int ids_set(struct string_ids *ids, uint32_t id, uint32_t value, size_t rows)
{
	/* Ids count up from 1, so an array suffices; a very large id of a damaged file goes to the map. */
	if (id < rows * 4 + 1024) {
		size_t before = ids->n;

		if (!GROW(ids->dense, (size_t)id + 1, ids->n))
			return -1;
		for (size_t i = before; i < ids->n; i++)
			ids->dense[i] = i ? STRING_LOST | (uint32_t)i : STRING_NONE;
		ids->dense[id] = value;
		return 0;
	}
	return map_set(&ids->rest, id, value) ? 0 : -1;
}

/* Interns the strings of a chunk; does not copy tails of a trace in memory. */
static int chunk_strings(struct model *m, const struct part *p, struct buf *tails)
{
	uint32_t rows = p->chunk->head.rows;
	const struct string_row *row = (const struct string_row *)p->chunk->rows;
	const char *text = (const char *)p->chunk->tails;
	size_t left = p->chunk->tail_bytes;
	void *copy = NULL;
	int rc = -1;

	if (!row) {
		tails->len = 0;
		row = copy = malloc(rows * sizeof *row + 1);
		if (!copy || trace_rows(&m->trace, p->chunk, copy) < 0 || trace_tails(&m->trace, p->chunk, tails) < 0) {
			rc = copy && p->chunk->bad ? 0 : -1;
			goto out;
		}
		text = (const char *)tails->data;
		left = tails->len;
	}
	for (uint32_t i = 0; i < rows && row[i].bytes <= left; left -= row[i].bytes, text += row[i++].bytes) {
		uint32_t id = intern(m, row[i].bytes ? text : "", row[i].bytes ? strnlen(text, row[i].bytes) : 0);

		if (id == MAP_NONE ||
		    (row[i].id && ids_set(&m->strings.ids[p->process], row[i].id, id, m->kinds[ROW_string].n_rows) < 0))
			goto out;
	}
	rc = 0;
out:
	free(copy);
	return rc;
}

int strings_load(struct model *m)
{
	struct strings *s = &m->strings;
	struct kind *kind = &m->kinds[ROW_string];
	struct buf tails = { 0 };
	int rc = -1;

	if (s->loaded)
		return s->failed ? -1 : 0;
	s->loaded = true;
	s->ids = calloc(m->n_processes, sizeof *s->ids);
	if (!s->ids || intern(m, "", 0) != STRING_NONE)
		goto out;
	for (size_t i = 0; i < kind->n_parts; i++)
		if (chunk_strings(m, &kind->parts[i], &tails) < 0)
			goto out;
	rc = 0;
out:
	s->failed = rc < 0;
	buf_free(&tails);
	return rc;
}

void strings_release(struct model *m)
{
	struct strings *s = &m->strings;

	for (uint32_t p = 0; s->ids && p < m->n_processes; p++) {
		free(s->ids[p].dense);
		map_release(&s->ids[p].rest);
	}
	free(s->ids);
	free(s->texts);
	free(s->hashes);
	free(s->places);
	while (s->blocks) {
		struct memory *next = s->blocks->next;

		free(s->blocks);
		s->blocks = next;
	}
}
