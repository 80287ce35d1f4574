/* Each distinct text once, with a number from 1; 0 is no text. */
#ifndef IMPORT_TEXTS_H
#define IMPORT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct json_value;

struct text {
	const char *at;                 /* n bytes, and a zero behind them */
	uint32_t n, hash;
	uint32_t as;                    /* texts_json(): how it is written in the trace; 0: not known yet */
	uint8_t what;                   /* the caller's; 0 in a new one */
};

#define RECENT_BITS  10u
#define RECENT_BYTES 32u                /* what follows a short one is much the same each time, too */

/* A value of the file that was met before, as it stands there. */
struct recent {
	const char *at;
	uint32_t n;                     /* 0: none */
	uint32_t text;
};

struct texts {
	struct text *list;              /* by number */
	uint32_t n, cap;                /* n: of the next */
	uint32_t *places;               /* hash table of numbers; 0: free */
	uint32_t mask;
	uint64_t secret[2];
	struct text_block *blocks;
	char *room;
	size_t left;
	char *scratch;
	size_t scratch_size;
	bool oom;
	struct recent names[1u << RECENT_BITS], lists[1u << RECENT_BITS];       /* texts_remember(); by their first bytes */
};

/* 0: out of memory, and texts->oom. */
uint32_t texts_put(struct texts *t, const char *at, size_t n);

/* A JSON text without its escapes. */
uint32_t texts_value(struct texts *t, const struct json_value *v);

/* A list or object as Python and Kineto write it: ", " and ": ", and no other blanks.  *raw: as it stands there. */
uint32_t texts_json(struct texts *t, const struct json_value *v, uint32_t *raw);

/*
 * Most values stood in the file a moment ago: they are known again by their bytes, without a look for their end and
 * without a hash.  at: in the file, where RECENT_BYTES may be read, as when one was looked for; kept: the same n bytes, to stay.
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

/* NULL: it is not known.  room: bytes from `at` on that are there; one more than what was found, at least. */
static inline const struct recent *texts_recent(struct recent *of, const uint8_t *at, size_t room)
{
	const struct recent *r = texts_slot(of, at);

	return r->n && r->n < room && memcmp(r->at, at, r->n) == 0 ? r : NULL;
}

static inline void texts_remember(struct recent *of, const uint8_t *at, const char *kept, size_t n, uint32_t text)
{
	if (n < UINT32_MAX)
		*texts_slot(of, at) = (struct recent){ kept, (uint32_t)n, text };
}

void texts_free(struct texts *t);

#endif
