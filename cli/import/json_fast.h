/*
 * The scanner's own way through the bytes, for who asks for millions of values: it is compiled into each caller.  json_scan.h
 * has the same as functions.
 */
#ifndef IMPORT_JSON_FAST_H
#define IMPORT_JSON_FAST_H

#include <string.h>

#include "cli/import/json_scan.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* json_scan.c: what is rare. */
bool scan_text_ends(struct scan *s, const uint8_t *quote);
enum json_type scan_word(struct scan *s, struct json_value *v);
enum json_type scan_rest(struct scan *s, struct json_value *v, int c);
extern const uint8_t scan_in_number[256];

/* Most texts are short: the first bytes are looked at without a call. */
static inline const uint8_t *fast_find(const struct scan *s, const uint8_t *p)
{
#ifdef __x86_64__
	__m128i v = _mm_loadu_si128((const __m128i *)p);
	unsigned hit = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
							       _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));

	if (hit)
		return p + __builtin_ctz(hit);
	return s->find(p + 16, s->end);
#else
	return s->find(p, s->end);
#endif
}

/*
 * The first byte from p on that is no blank, perhaps behind end.  Bytes behind end are looked at before anything was written there (JSON_SLACK), of which
 * valgrind complains.  Whatever they are, only an answer behind end depends on them.
 */
static inline const uint8_t *fast_blanks(const uint8_t *p, const uint8_t *end)
{
	if (*p > ' ')
		return p;
	if (*++p > ' ')
		return p;
	while (p < end) {
#ifdef __x86_64__
		__m128i v = _mm_loadu_si128((const __m128i *)p), least = _mm_set1_epi8('!');
		unsigned solid = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(v, least), v));

		if (solid)
			return p + __builtin_ctz(solid);
		p += 16;
#else
		if (*p > ' ')
			return p;
		p++;
#endif
	}
	return p;
}

static inline int fast_peek(struct scan *s)
{
	for (;;) {
		const uint8_t *p = fast_blanks(s->p, s->end);

		if (p < s->end) {
			s->p = p;
			return *p;
		}
		if (s->p < s->end)
			s->p = s->end;
		if (!s->more(s))
			return -1;
	}
}

/* At a quote. */
static inline enum json_type fast_text(struct scan *s, struct json_value *v)
{
	const uint8_t *p = s->p + 1;

	v->type = JSON_TEXT;
	v->at = p;
	v->escaped = false;
	for (;;) {
		const uint8_t *q = fast_find(s, p);

		if (q >= s->end) {
			p = p > s->end ? p : s->end;
			if (!s->more(s))
				return JSON_NOTHING;
			continue;
		}
		if (*q == '\\') {
			v->escaped = true;
			p = q + 2;
			continue;
		}
		if (s->end - q > 1 && (q[1] == ',' || q[1] == ':' || q[1] == '}' || q[1] == ']')) {
			v->n = (size_t)(q - v->at);
			s->p = q + 1;
			return JSON_TEXT;
		}
		if (scan_text_ends(s, q)) {
			v->n = (size_t)(q - v->at);
			s->p = q + 1;
			return JSON_TEXT;
		}
		s->odd_quotes++;
		p = q + 1;
	}
}

/* Behind the digits from p on, perhaps behind end: without a branch for each. */
static inline const uint8_t *fast_digits(const uint8_t *p)
{
#ifdef __x86_64__
	__m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
	unsigned other = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v)) & 0xffff;

	return other ? p + __builtin_ctz(other) : p + 16;
#else
	return p;
#endif
}

/* What may stand behind a number. */
extern const uint8_t scan_ends_number[256];

/* Eight digits, the first in the lowest byte and zeros for those that are missing in front: pairs, then fours, then all. */
static inline uint64_t fast_eight(uint64_t digits)
{
	digits = (digits * 2561 >> 8) & 0x00ff00ff00ff00ffull;
	digits = (digits * 6553601 >> 16) & 0x0000ffff0000ffffull;
	return digits * 42949672960001ull >> 32;
}

/* The bytes from p on without what makes digits letters, and eight times how many of them are digits, at most 64. */
static inline unsigned fast_digit_bits(const uint8_t *p, uint64_t *digits)
{
	uint64_t v, other;

	memcpy(&v, p, 8);
	v ^= 0x3030303030303030ull;
	*digits = v;
	/* A carry out of a byte that is no digit reaches only bytes behind the first such. */
	other = ((v + 0x7676767676767676ull) | v) & 0x8080808080808080ull;
	return other ? (unsigned)__builtin_ctzll(other) & ~7u : 64;
}

/* 1 to 16 digits and what may follow a number, all of it within 24 bytes from p on that are there.  Behind them, or NULL. */
static inline const uint8_t *fast_whole(const uint8_t *p, uint64_t *whole)
{
	static const uint32_t tens[9] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
	uint64_t a, b;
	unsigned bits = fast_digit_bits(p, &a);

	if (!bits)
		return NULL;
	*whole = fast_eight(a << (64 - bits));
	p += bits >> 3;
	if (bits == 64) {
		bits = fast_digit_bits(p, &b);
		if (bits)
			*whole = *whole * tens[bits >> 3] + fast_eight(b << (64 - bits));
		p += bits >> 3;
	}
	return p;
}

/* At a digit or a minus. */
static inline enum json_type fast_number(struct scan *s, struct json_value *v)
{
	const uint8_t *p = fast_digits(v->at);

	p = p < s->end ? p : s->end;
	do {
		while (p < s->end && scan_in_number[*p])
			p++;
	} while (p == s->end && (s->p = p, s->more(s)));
	if (p < s->end && (*p | 32) >= 'a' && (*p | 32) <= 'z')
		return scan_word(s, v); /* -Infinity, 0x17 */
	s->p = p;
	v->n = (size_t)(p - v->at);
	return v->type = JSON_NUMBER;
}

static inline enum json_type fast_value(struct scan *s, struct json_value *v)
{
	int c = fast_peek(s);

	v->at = s->p;
	v->escaped = false;
	if (c == '"')
		return fast_text(s, v);
	if ((c >= '0' && c <= '9') || c == '-')
		return fast_number(s, v);
	return scan_rest(s, v, c);
}

static inline enum json_type fast_key(struct scan *s, struct json_value *key)
{
	int c = fast_peek(s);

	while (c == ',') {
		s->p++;
		c = fast_peek(s);
	}
	if (c == '}') {
		s->p++;
		return JSON_OBJECT;
	}
	if (c != '"')
		return c < 0 ? JSON_NOTHING : JSON_BAD;
	if (fast_text(s, key) != JSON_TEXT)
		return JSON_NOTHING;
	c = fast_peek(s);
	if (c != ':')
		return c < 0 ? JSON_NOTHING : JSON_BAD;
	s->p++;
	return JSON_TEXT;
}

#endif
