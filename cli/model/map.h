/* Hash map from uint64_t to uint32_t (below MAP_NONE), open addressing.  { 0 } is an empty map. */
#ifndef MODEL_MAP_H
#define MODEL_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct map_entry {
	uint64_t key;
	uint32_t value;         /* value + 1; 0: free */
};

struct map {
	struct map_entry *entries;
	size_t mask, n;         /* mask + 1 places, a power of two; n entries */
	uint64_t odd;           /* multiplier of the hash */
};

#define MAP_NONE 0xffffffffu

/*
 * Word i (0 or 1) of the random words that the kernel gives each process (AT_RANDOM).  They protect against hostile files whose keys all
 * collide.  No output may depend on them, so never output a map in the order of its table.
 */
static inline uint64_t hash_secret(unsigned i)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t words[2] = { 0x9e3779b97f4a7c15ull, 0xe7037ed1a0b428dbull };

	if (random)
		memcpy(words, random, sizeof words);
	return words[i];
}

/* Mixes a and b with the secret: the halves of the product, xored.  Collisions cannot be predicted without the secret. */
static inline uint64_t hash_mix(const uint64_t secret[2], uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ secret[0]) * (b ^ secret[1]);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Frees the memory; *m is then an empty map. */
static inline void map_release(struct map *m)
{
	free(m->entries);
	*m = (struct map){ 0 };
}

/* Multiplicative hash: keys are often consecutive ids, or two ids side by side. */
static inline size_t map_place(const struct map *m, uint64_t key)
{
	key ^= key >> 32;
	key *= m->odd;
	return (size_t)(key ^ key >> 29);
}

/* The value of key, or MAP_NONE. */
static inline uint32_t map_get(const struct map *m, uint64_t key)
{
	if (!m->entries)
		return MAP_NONE;
	for (size_t i = map_place(m, key) & m->mask; m->entries[i].value; i = (i + 1) & m->mask)
		if (m->entries[i].key == key)
			return m->entries[i].value - 1;
	return MAP_NONE;
}

/* Doubles the table; false: out of memory, the map is unchanged. */
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

/*
 * Inserts key with value unless the map has it; *new tells whether it was inserted.  Returns a pointer to the stored value + 1, valid until
 * the next insertion; NULL: out of memory.
 */
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

/* Sets the value of key, replacing an existing one.  False: out of memory. */
static inline bool map_set(struct map *m, uint64_t key, uint32_t value)
{
	bool new;
	uint32_t *at = map_put(m, key, value, &new);

	if (at)
		*at = value + 1;
	return at != NULL;
}

#endif
