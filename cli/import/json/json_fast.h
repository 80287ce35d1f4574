/* Inline versions of the functions of json_scan.h, for callers that read millions of values. */
#ifndef CLI_IMPORT_JSON_JSON_FAST_H
#define CLI_IMPORT_JSON_JSON_FAST_H

#include <string.h>

#include "cli/import/json/json_scan.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/*
 * json_scan.c, slow paths: whether the quote at `quote` ends its text; a word such as null at v->at; any value but a text or
 * number, whose first byte is c (-1: end of input).
 */
bool scan_text_ends(struct scan *s, const uint8_t *quote);
enum json_type scan_word(struct scan *s, struct json_value *v);
enum json_type scan_rest(struct scan *s, struct json_value *v, int c);
extern const uint8_t scan_in_number[256];

/* As s->find(), but checks the first 16 bytes without a call: most texts are short. */
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
 * Returns the first byte from p on that is not a blank; the result may lie beyond `end`.  Reads up to JSON_SLACK bytes beyond
 * `end`, which may be uninitialized: valgrind reports this.  They only affect results beyond `end`.
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

/* As scan_peek(). */
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

/* Reads a text; s->p is at its opening quote.  JSON_TEXT, or JSON_NOTHING: the input ends. */
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

/* Returns the first of the next 16 bytes that is not a digit, perhaps beyond the end, or p + 16.  Without SSE2: p. */
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

/* Bytes that may follow a number. */
extern const uint8_t scan_ends_number[256];

/* The value of eight digits, one (0 to 9) a byte, the first in the lowest byte.  Combines pairs, then fours, then all eight. */
static inline uint64_t fast_eight(uint64_t digits)
{
	digits = (digits * 2561 >> 8) & 0x00ff00ff00ff00ffull;
	digits = (digits * 6553601 >> 16) & 0x0000ffff0000ffffull;
	return digits * 42949672960001ull >> 32;
}

/* Sets *digits to the eight bytes at p minus '0'; returns 8 times the number of leading digits, at most 64. */
static inline unsigned fast_digit_bits(const uint8_t *p, uint64_t *digits)
{
	uint64_t v, other;

	memcpy(&v, p, 8);
	v ^= 0x3030303030303030ull;
	*digits = v;
	/* Only a byte that is not a digit carries, so every byte up to the first of them is right. */
	other = ((v + 0x7676767676767676ull) | v) & 0x8080808080808080ull;
	return other ? (unsigned)__builtin_ctzll(other) & ~7u : 64;
}

/* Reads 1 to 16 digits; 24 bytes from p must be readable.  Returns the byte after them, or NULL: no digit.  Does not check that byte. */
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

/* Reads a number, or a word such as -Infinity; s->p and v->at are at a digit or a minus.  Returns v->type. */
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

/* As scan_value(). */
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

/* As scan_key(). */
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
