/*
 * Cache of the text between two values of an event, such as `, "tid": `; one such text is a hop.  A writer spells it the
 * same way in each event.  So each hop is parsed once (kineto_hop.c) and then compared byte by byte, which costs a tenth.
 *
 * The hops of a file form a tree: the children of a hop are the hops that were seen next.  This file compares bytes; their
 * meaning is in the fields that the caller sets.
 */
#ifndef CLI_IMPORT_ROWS_HOPS_H
#define CLI_IMPORT_ROWS_HOPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define HOP_BYTES 64u
#define HOP_ROOM  96                    /* bytes needed to compare a hop and read a number after it */
#define MOST_HOPS 1024u                 /* a file needs about 100; hops beyond the limit are parsed each time */
#define MOST_NEXT 24u                   /* children of one hop: a search compares all of them at worst */

struct hop {
	uint8_t bytes[HOP_BYTES];
	struct hop *next, *beside;      /* first child; next sibling */
	uint8_t n, n_next;              /* bytes used; number of children */
	uint32_t met;                   /* hits while it was not the first sibling: the order of the siblings */
	uint16_t number;                /* index in hops.list, from 1; 0: not in the list */
	/* Set by kineto_hop.c. */
	uint8_t what, place, brace;     /* enum hop_what, enum arg_place, offset of the event's { */
	uint8_t category, n_category, key, n_key;       /* offsets and lengths in bytes[] */
	bool in_args, has_phase, sets;  /* sets: contains a phase or a category */
	char phase;
};

struct hops {
	uint16_t n;
	struct hop list[MOST_HOPS];     /* [0]: the root, before an event; entries from n on are not initialized */
};

/* Whether the bytes of h are at p; HOP_BYTES from p must be readable. */
static inline bool hop_same(const struct hop *h, const uint8_t *p)
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

/* Returns the child of `from` whose bytes are at p, or NULL.  HOP_BYTES from p must be readable.  Frequent children move forward. */
static inline struct hop *hop_find(struct hop *from, const uint8_t *p)
{
	struct hop *h = from->next, **link = &from->next;

	if (!h || hop_same(h, p))
		return h;
	while (h->beside) {
		struct hop *before = h;

		h = h->beside;
		if (!hop_same(h, p)) {
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
 * child that has these bytes already.  NULL: the list or `from` is full, or the bytes are more than HOP_BYTES or none.
 */
struct hop *hop_learn(struct hops *hops, struct hop *from, const struct hop *h, const uint8_t *p, const uint8_t *end);

#endif
