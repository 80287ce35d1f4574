/*
 * What stands between one value of an event and the next: `, "tid": `.  A writer spells it the same way each time, so it
 * is taken apart once, and compared from then on: a key found so costs a tenth of one read letter by letter.
 *
 * The hops of a file are a tree: where an event can go on from here.  Knows bytes, not what they mean.
 */
#ifndef IMPORT_HOPS_H
#define IMPORT_HOPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define HOP_BYTES 64u
#define HOP_ROOM  96                    /* the bytes of one, and a number behind it */
#define MOST_HOPS 1024u                 /* a file needs a hundred; the rest of an odd one is read letter by letter */
#define MOST_NEXT 24u                   /* ways to go on from one, each of which may have to be compared */

struct hop {
	uint8_t bytes[HOP_BYTES];
	struct hop *next, *beside;      /* the first that may follow; another that may follow the one before */
	uint8_t n, n_next;
	uint32_t met;                   /* so many times behind another */
	uint16_t number;                /* from 1 on; 0: not kept */
	/* The rest is the caller's. */
	uint8_t what, place, brace;
	uint8_t category, n_category, key, n_key;       /* where in bytes */
	bool in_args, has_phase, sets;  /* sets: a phase or a category */
	char phase;
};

struct hops {
	uint16_t n;
	struct hop list[MOST_HOPS];     /* the first is the root: before an event; of the others only n were written */
};

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

/* The one whose bytes stand at p; HOP_BYTES from there may be read.  NULL: it is new.  What is met often moves to the front. */
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

/* Keeps *h, whose bytes are those from p to end, as one that may follow `from`, one of the list.  NULL: there is no room. */
struct hop *hop_learn(struct hops *hops, struct hop *from, const struct hop *h, const uint8_t *p, const uint8_t *end);

#endif
