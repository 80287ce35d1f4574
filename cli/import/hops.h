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
#define MOST_HOPS 1024u                 /* a file needs a hundred; the rest of an odd one is read letter by letter */
#define MOST_NEXT 24u                   /* ways to go on from one, each of which may have to be compared */

struct hop {
	uint8_t bytes[HOP_BYTES];
	uint32_t n;
	uint32_t text;                  /* the rest is the caller's */
	uint8_t what, place;
	char phase;
	uint8_t n_next;
	uint16_t next, beside;          /* the first that may follow; another that may follow the one before.  0: none */
};

struct hops {
	struct hop list[MOST_HOPS];     /* the first is the root: an event's bracket */
	uint16_t n;
};

static inline bool hop_same(const struct hop *h, const uint8_t *p)
{
#ifdef __x86_64__
	const __m128i *a = (const __m128i *)h->bytes, *b = (const __m128i *)p;
	uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b))) |
			(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1))) << 16;

	if (h->n < 32)
		return !(~same << (32 - h->n));
	return same == UINT32_MAX && memcmp(h->bytes + 32, p + 32, h->n - 32) == 0;
#else
	return memcmp(h->bytes, p, h->n) == 0;
#endif
}

/* The one whose bytes stand at p, with one more before end; HOP_BYTES behind that may be read.  NULL: it is new. */
static inline const struct hop *hop_find(const struct hops *hops, const struct hop *from, const uint8_t *p, const uint8_t *end)
{
	for (unsigned i = from->next; i; i = hops->list[i].beside) {
		const struct hop *h = &hops->list[i];

		if (hop_same(h, p) && end - p > h->n)
			return h;
	}
	return NULL;
}

/* Keeps *h, whose bytes are those from p to end, as one that may follow `from`.  NULL: there is no room. */
const struct hop *hop_learn(struct hops *hops, const struct hop *from, const struct hop *h, const uint8_t *p, const uint8_t *end);

#endif
