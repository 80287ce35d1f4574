/*
 * Cache of the text between two values of an event, such as `, "tid": `; one such text is a token.  A writer spells it the
 * same way in each event.  So each token is parsed once (kineto_token.c) and then compared byte by byte, which costs a tenth.
 *
 * The tokens of a file form a tree: the children of a token are the tokens that were seen next.  This file compares bytes; their
 * meaning is in the fields that the caller sets.
 */
#ifndef CLI_IMPORT_ROWS_TOKEN_CACHE_H
#define CLI_IMPORT_ROWS_TOKEN_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define TOKEN_BYTES 64u
#define TOKEN_ROOM  96                  /* bytes needed to compare a token and read a number after it */
#define MOST_TOKENS 1024u               /* a file needs about 100; tokens beyond the limit are parsed each time */
#define MOST_NEXT 24u                   /* children of one token: a search compares all of them at worst */

struct token {
	uint8_t bytes[TOKEN_BYTES];
	struct token *next, *beside;    /* first child; next sibling */
	uint8_t n, n_next;              /* bytes used; number of children */
	uint32_t met;                   /* hits while it was not the first sibling: the order of the siblings */
	uint16_t number;                /* index in tokens.list, from 1; 0: not in the list */
	/* Set by kineto_token.c. */
	uint8_t what, place, brace;     /* enum token_what, enum arg_place, offset of the event's { */
	uint8_t category, n_category, key, n_key;       /* offsets and lengths in bytes[] */
	bool in_args, has_phase, sets;  /* sets: contains a phase or a category */
	char phase;
};

struct token_cache {
	uint16_t n;
	struct token list[MOST_TOKENS]; /* [0]: the root, before an event; entries from n on are not initialized */
};

/* Whether the bytes of h are at p; TOKEN_BYTES from p must be readable. */
static inline bool token_same(const struct token *h, const uint8_t *p)
{
#ifdef __x86_64__
	const __m128i *a = (const __m128i *)h->bytes, *b = (const __m128i *)p;
	uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b))) |
			(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1))) << 16;

	if (h->n <= 32)
		return !((uint32_t)~same << (32 - h->n));
	if (same != UINT32_MAX)
		return false;
	same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a + 2), _mm_loadu_si128(b + 2))) |
	       (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a + 3), _mm_loadu_si128(b + 3))) << 16;
	return !((uint32_t)~same << (64 - h->n));
#else
	return memcmp(h->bytes, p, h->n) == 0;
#endif
}

/* Returns the child of `from` whose bytes are at p, or NULL.  TOKEN_BYTES from p must be readable.  Frequent children move forward. */
static inline struct token *token_cache_find(struct token *from, const uint8_t *p)
{
	struct token *h = from->next, **link = &from->next;

	if (!h || token_same(h, p))
		return h;
	while (h->beside) {
		struct token *before = h;

		h = h->beside;
		if (!token_same(h, p)) {
			link = &before->beside;
			continue;
		}
		if (++h->met > before->met) {
			before->beside = h->beside;
			h->beside = before;
			*link = h;
		}
		return h;
	}
	return NULL;
}

/*
 * Adds *h with the bytes from p to end as a child of `from`, which is in the list.  Returns the copy in the list, or the
 * child that has these bytes already.  NULL: the list or `from` is full, or the bytes are more than TOKEN_BYTES or none.
 */
struct token *token_cache_add(struct token_cache *tokens, struct token *from, const struct token *h, const uint8_t *p, const uint8_t *end);

#endif
