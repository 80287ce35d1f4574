/* uint64_t -> uint32_t, open addressing.  { 0 } is an empty map. */
#ifndef MODEL_MAP_H
#define MODEL_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct map_entry {
	uint64_t key;
	uint32_t value;         /* + 1; 0: free */
};

struct map {
	struct map_entry *entries;
	size_t mask, n;         /* mask + 1 places, a power of two */
	uint64_t odd;           /* what keys are multiplied with */
};

#define MAP_NONE 0xffffffffu

/*
 * The two words that the kernel gives each process.  Whoever makes a file does not know them, so no file has keys that all
 * want one place of a table.  Nothing that is put out may depend on them: not the order of a table either.
 */
static inline uint64_t hash_secret(unsigned i)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t words[2] = { 0x9e3779b97f4a7c15ull, 0xe7037ed1a0b428dbull };

	if (random)
		memcpy(words, random, sizeof words);
	return words[i];
}

static inline void map_release(struct map *m)
{
	free(m->entries);
	*m = (struct map){ 0 };
}

/* Multiplicative mixing: ids count up from 1, and several are put side by side in one key. */
static inline size_t map_place(const struct map *m, uint64_t key)
{
	key ^= key >> 32;
	key *= m->odd;
	return (size_t)(key ^ key >> 29);
}

static inline uint32_t map_get(const struct map *m, uint64_t key)
{
	if (!m->entries)
		return MAP_NONE;
	for (size_t i = map_place(m, key) & m->mask; m->entries[i].value; i = (i + 1) & m->mask)
		if (m->entries[i].key == key)
			return m->entries[i].value - 1;
	return MAP_NONE;
}

static inline bool map_grow(struct map *m)
{
	size_t size = m->entries ? (m->mask + 1) * 2 : 64;
	struct map_entry *entries = calloc(size, sizeof *entries);

	if (!entries)
		return false;
	if (!m->entries)
		m->odd = hash_secret(0) | 1;
	for (size_t i = 0; m->entries && i <= m->mask; i++) {
		if (!m->entries[i].value)
			continue;
		size_t at = map_place(m, m->entries[i].key) & (size - 1);

		while (entries[at].value)
			at = (at + 1) & (size - 1);
		entries[at] = m->entries[i];
	}
	free(m->entries);
	m->entries = entries;
	m->mask = size - 1;
	return true;
}

/* The value of key, put there if the map has none yet; NULL: no memory.  Valid until the next call.  *new tells
 * which. */
static inline uint32_t *map_put(struct map *m, uint64_t key, uint32_t value, bool *new)
{
	size_t i;

	if ((!m->entries || m->n * 2 > m->mask) && !map_grow(m))
		return NULL;
	for (i = map_place(m, key) & m->mask; m->entries[i].value; i = (i + 1) & m->mask)
		if (m->entries[i].key == key) {
			*new = false;
			return &m->entries[i].value;
		}
	m->entries[i] = (struct map_entry){ key, value + 1 };
	m->n++;
	*new = true;
	return &m->entries[i].value;
}

/* Sets, over an existing value too.  False: no memory. */
static inline bool map_set(struct map *m, uint64_t key, uint32_t value)
{
	bool new;
	uint32_t *at = map_put(m, key, value, &new);

	if (at)
		*at = value + 1;
	return at != NULL;
}

#endif
