/* String table: each distinct text is stored once and has a number from 1; 0 is no text. */
#ifndef CLI_IMPORT_ROWS_TEXTS_H
#define CLI_IMPORT_ROWS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct json_value;

struct interned_text {
	const char *at;                 /* n bytes and a NUL; stays at its address until texts_free() */
	uint32_t n, hash;
	uint32_t as;                    /* texts_json(): number of the normalized text; 0: none */
	uint8_t what;                   /* for the caller; initially 0 */
};

#define RECENT_BITS  10u
#define RECENT_BYTES 32u                /* bytes that select a slot; the bytes after a short text are also mostly the same each time */

/* A text that was seen recently, as the file spells it. */
struct recent {
	const char *at;
	uint32_t n;                     /* 0: empty slot */
	uint32_t text;
};

/* { 0 } is empty. */
struct texts {
	struct interned_text *list;     /* by number; NULL while there is no text */
	uint32_t n;                     /* the next number */
	size_t cap;                     /* of list */
	uint32_t *places;               /* hash table of numbers; 0: free */
	uint32_t mask;
	uint64_t secret[2];
	struct text_block *blocks;
	char *room;
	size_t left;
	char *scratch;
	size_t scratch_size;
	bool oom;
	struct recent names[1u << RECENT_BITS], lists[1u << RECENT_BITS];       /* caches for texts_recent(); slot by the first bytes */
};

/* The number of a text, which is copied if it is new.  0: no bytes, or out of memory (t->oom is set). */
uint32_t texts_put(struct texts *t, const char *at, size_t n);

/* As texts_put(), for a JSON text: without its escapes. */
uint32_t texts_value(struct texts *t, const struct json_value *v);

/* As texts_put(), for a list or object, normalized as Python and Kineto write it: ", ", ": " and no other blanks.  *raw: as spelled. */
uint32_t texts_json(struct texts *t, const struct json_value *v, uint32_t *raw);

/*
 * Cache of recent values, by the bytes in the file: a hit needs neither a search for the end of the value nor a hash of all
 * of it.  at: in the file; RECENT_BYTES from there must be readable.  Returns the slot for these bytes.
 */
static inline struct recent *texts_slot(struct recent *of, const uint8_t *at)
{
	uint64_t v, mixed = 0;

	for (unsigned i = 0; i < RECENT_BYTES; i += 8) {
		memcpy(&v, at + i, 8);
		mixed = (mixed << 7 | mixed >> 57) ^ v;
	}
	return &of[mixed * 0x9e3779b97f4a7c15ull >> (64 - RECENT_BITS)];
}

/* The recent value at `at`, or NULL.  room: bytes available from `at`; a hit is shorter.  The caller checks that the value ends there. */
static inline const struct recent *texts_recent(struct recent *of, const uint8_t *at, size_t room)
{
	const struct recent *r = texts_slot(of, at);

	return r->n && r->n < room && memcmp(r->at, at, r->n) == 0 ? r : NULL;
}

/* Stores a value in its slot.  kept: the same n bytes, in memory that lives as long as the cache. */
static inline void texts_remember(struct recent *of, const uint8_t *at, const char *kept, size_t n, uint32_t text)
{
	if (n < UINT32_MAX)
		*texts_slot(of, at) = (struct recent){ kept, (uint32_t)n, text };
}

/* Frees all texts; *t is empty afterwards. */
void texts_free(struct texts *t);

#endif
