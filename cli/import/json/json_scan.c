#include "cli/import/json/json_scan.h"

#include <string.h>

#include "cli/import/json/json_fast.h"
#include "trace/processor.h"

#define DEPTH_MAX 1024u                 /* nested brackets; no trace has more */

/* ---- the next quote or backslash ---- */

/* Sets the highest bit of each byte of w that is 0.  Bytes above the first 0 may be wrong. */
static inline uint64_t zero_bytes(uint64_t w)
{
	return (w - 0x0101010101010101ull) & ~w & 0x8080808080808080ull;
}

const uint8_t *scan_find_plain(const uint8_t *p, const uint8_t *end)
{
	for (; p < end; p += 8) {
		uint64_t w, hit;

		memcpy(&w, p, 8);
		hit = zero_bytes(w ^ 0x2222222222222222ull) | zero_bytes(w ^ 0x5c5c5c5c5c5c5c5cull);
		if (hit)
			return p + (__builtin_ctzll(hit) >> 3);
	}
	return p;
}

#ifdef __x86_64__
__attribute__((target("avx2")))
const uint8_t *scan_find_avx2(const uint8_t *p, const uint8_t *end)
{
	const __m256i quote = _mm256_set1_epi8('"'), back = _mm256_set1_epi8('\\');

	for (; p < end; p += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i *)p);
		unsigned hit = (unsigned)_mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpeq_epi8(v, quote),
									     _mm256_cmpeq_epi8(v, back)));

		if (hit)
			return p + __builtin_ctz(hit);
	}
	return p;
}

bool scan_has_avx2(void)
{
	return processor_has_avx2();
}
#else
const uint8_t *scan_find_avx2(const uint8_t *p, const uint8_t *end)
{
	return scan_find_plain(p, end);
}

bool scan_has_avx2(void)
{
	return false;
}
#endif

void scan_init(struct scan *s)
{
	s->find = scan_has_avx2() ? scan_find_avx2 : scan_find_plain;
	s->odd_quotes = 0;
	s->too_deep = NULL;
}

int scan_peek(struct scan *s)
{
	return fast_peek(s);
}

enum json_type scan_value(struct scan *s, struct json_value *v)
{
	return fast_value(s, v);
}

enum json_type scan_key(struct scan *s, struct json_value *key)
{
	return fast_key(s, key);
}

/* ---- slow paths ---- */

/* Whether the quote at q ends its text: a text is followed by , : } ] or the end.  Otherwise the writer forgot to escape it. */
bool scan_text_ends(struct scan *s, const uint8_t *q)
{
	const uint8_t *at = s->p;
	int c;

	s->p = q + 1;
	c = fast_peek(s);
	s->p = at;
	return c == ',' || c == ':' || c == '}' || c == ']' || c < 0;
}

const uint8_t scan_in_number[256] = {
	['0' ... '9'] = 1, ['.'] = 1, ['-'] = 1, ['+'] = 1, ['e'] = 1, ['E'] = 1,
};

const uint8_t scan_ends_number[256] = {
	[0 ... ' '] = 1, [','] = 1, ['}'] = 1, [']'] = 1,
};

static inline bool in_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '_' || c == '-' || c == '+' ||
	       (c >= '0' && c <= '9');
}

static bool is(const struct json_value *v, const char *word)
{
	return v->n == strlen(word) && memcmp(v->at, word, v->n) == 0;
}

enum json_type scan_word(struct scan *s, struct json_value *v)
{
	const uint8_t *p = v->at;

	do {
		while (p < s->end && in_word(*p))
			p++;
	} while (p == s->end && (s->p = p, s->more(s)));
	s->p = p;
	v->n = (size_t)(p - v->at);
	v->type = is(v, "null") ? JSON_NULL : is(v, "true") ? JSON_TRUE : is(v, "false") ? JSON_FALSE : JSON_WORD;
	return v->type;
}

/* Returns the first quote or bracket in the next 16 bytes, or p + 16 (without SSE2: of one byte); perhaps beyond the end. */
static inline const uint8_t *next_mark(const uint8_t *p)
{
#ifdef __x86_64__
	__m128i v = _mm_loadu_si128((const __m128i *)p), folded = _mm_or_si128(v, _mm_set1_epi8(' ')); /* folds [ to { and ] to } */
	__m128i hits = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
				    _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
						 _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))));

	return p + __builtin_ctz((unsigned)_mm_movemask_epi8(hits) | 0x10000);
#else
	return *p == '"' || (*p | 32) == '{' || (*p | 32) == '}' ? p : p + 1;
#endif
}

/* From a bracket to the bracket that closes it.  { and [ are not told apart: [} passes. */
static enum json_type composite(struct scan *s, struct json_value *v)
{
	struct json_value inner;
	unsigned depth = 0;

	for (;;) {
		const uint8_t *p = next_mark(s->p);

		s->p = p < s->end ? p : s->end;
		if (s->p == s->end) {
			if (!s->more(s))
				return JSON_NOTHING;
			continue;
		}
		switch (*s->p) {
		case '"':
			if (fast_text(s, &inner) != JSON_TEXT)
				return JSON_NOTHING;
			continue;
		case '{': case '[':
			if (++depth > DEPTH_MAX) {
				s->too_deep = s->p;
				return JSON_BAD;
			}
			break;
		case '}': case ']':
			if (--depth == 0) {
				s->p++;
				v->n = (size_t)(s->p - v->at);
				return v->type;
			}
			break;
		default:
			break;
		}
		s->p++;
	}
}

enum json_type scan_rest(struct scan *s, struct json_value *v, int c)
{
	if (c == '{' || c == '[') {
		v->type = c == '{' ? JSON_OBJECT : JSON_LIST;
		return composite(s, v);
	}
	if (c < 0)
		return v->type = JSON_NOTHING;
	return in_word((uint8_t)c) ? scan_word(s, v) : (v->type = JSON_BAD);
}
