#include "cli/import/json_scan.h"

#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define DEPTH_MAX 100000u               /* of brackets: more is no trace */

/* ---- the next quote or backslash ---- */

/* Which bytes of w are 0: their highest bit, exact up to the lowest one. */
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
	return __builtin_cpu_supports("avx2");
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
}

/* Most texts are short: the first bytes are looked at without a call. */
static inline const uint8_t *find(const struct scan *s, const uint8_t *p)
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

/* ---- blanks ---- */

/* The first byte from p on that is no blank, perhaps behind end. */
static inline const uint8_t *behind_blanks(const uint8_t *p, const uint8_t *end)
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

static inline int peek(struct scan *s)
{
	for (;;) {
		const uint8_t *p = behind_blanks(s->p, s->end);

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

int scan_peek(struct scan *s)
{
	return peek(s);
}

/* ---- texts ---- */

/* Whether the quote at q ends its text: what may follow a text follows it.  A quote that a writer forgot to escape does not. */
static bool ends(struct scan *s, const uint8_t *q)
{
	const uint8_t *at = s->p;
	int c;

	s->p = q + 1;
	c = peek(s);
	s->p = at;
	return c == ',' || c == ':' || c == '}' || c == ']' || c < 0;
}

/* At a quote. */
static inline enum json_type text(struct scan *s, struct json_value *v)
{
	const uint8_t *p = s->p + 1;

	v->type = JSON_TEXT;
	v->at = p;
	v->escaped = false;
	for (;;) {
		const uint8_t *q = find(s, p);

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
		if (ends(s, q)) {
			v->n = (size_t)(q - v->at);
			s->p = q + 1;
			return JSON_TEXT;
		}
		s->odd_quotes++;
		p = q + 1;
	}
}

/* ---- other values ---- */

static inline bool in_number(uint8_t c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

static inline bool in_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '_' || c == '-' || c == '+' ||
	       (c >= '0' && c <= '9');
}

static bool is(const struct json_value *v, const char *word)
{
	return v->n == strlen(word) && memcmp(v->at, word, v->n) == 0;
}

static enum json_type word(struct scan *s, struct json_value *v)
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

static inline enum json_type number(struct scan *s, struct json_value *v)
{
	const uint8_t *p = v->at;

	do {
		while (p < s->end && in_number(*p))
			p++;
	} while (p == s->end && (s->p = p, s->more(s)));
	if (p < s->end && in_word(*p))
		return word(s, v);      /* -Infinity, 0x17 */
	s->p = p;
	v->n = (size_t)(p - v->at);
	return v->type = JSON_NUMBER;
}

/* At a bracket: to the one that closes it.  Which kind closes which is not looked at. */
static enum json_type composite(struct scan *s, struct json_value *v)
{
	struct json_value inner;
	unsigned depth = 0;

	for (;;) {
		if (s->p == s->end && !s->more(s))
			return JSON_NOTHING;
		switch (*s->p) {
		case '"':
			if (text(s, &inner) != JSON_TEXT)
				return JSON_NOTHING;
			continue;
		case '{': case '[':
			if (++depth > DEPTH_MAX)
				return JSON_BAD;
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

enum json_type scan_value(struct scan *s, struct json_value *v)
{
	int c = peek(s);

	v->at = s->p;
	v->escaped = false;
	if (c == '"')
		return text(s, v);
	if ((c >= '0' && c <= '9') || c == '-')
		return number(s, v);
	if (c == '{' || c == '[') {
		v->type = c == '{' ? JSON_OBJECT : JSON_LIST;
		return composite(s, v);
	}
	if (c < 0)
		return v->type = JSON_NOTHING;
	return in_word((uint8_t)c) ? word(s, v) : (v->type = JSON_BAD);
}

enum json_type scan_key(struct scan *s, struct json_value *key)
{
	int c = peek(s);

	while (c == ',') {
		s->p++;
		c = peek(s);
	}
	if (c == '}') {
		s->p++;
		return JSON_OBJECT;
	}
	if (c != '"')
		return c < 0 ? JSON_NOTHING : JSON_BAD;
	if (text(s, key) != JSON_TEXT)
		return JSON_NOTHING;
	c = peek(s);
	if (c != ':')
		return c < 0 ? JSON_NOTHING : JSON_BAD;
	s->p++;
	return JSON_TEXT;
}

/* ---- what values mean ---- */

static unsigned hex4(const uint8_t *p, const uint8_t *end, bool *good)
{
	unsigned v = 0;

	*good = end - p >= 4;
	for (int i = 0; *good && i < 4; i++) {
		uint8_t c = p[i];
		int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;

		*good = digit >= 0;
		v = v << 4 | (unsigned)(digit & 15);
	}
	return v;
}

static char *put_utf8(char *o, unsigned c)
{
	if (c < 0x80) {
		*o++ = (char)c;
	} else if (c < 0x800) {
		*o++ = (char)(0xc0 | c >> 6);
		*o++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*o++ = (char)(0xe0 | c >> 12);
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	} else {
		*o++ = (char)(0xf0 | c >> 18);
		*o++ = (char)(0x80 | (c >> 12 & 63));
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	}
	return o;
}

/* Behind \u; the rest of the text up to end.  *p goes on. */
static unsigned code_point(const uint8_t **p, const uint8_t *end, bool *good)
{
	unsigned c = hex4(*p, end, good), low;
	bool pair;

	if (!*good)
		return 0;
	*p += 4;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
		low = hex4(*p + 2, end, &pair);
		if (pair && low >= 0xdc00 && low <= 0xdfff) {
			*p += 6;
			return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return 0xfffd;
}

size_t json_text(const struct json_value *v, char *out)
{
	const uint8_t *p = v->at, *end = p + v->n;
	char *o = out;

	while (p < end) {
		static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
		const char *plain;
		bool good;

		if (*p != '\\' || end - p < 2) {
			*o++ = (char)*p++;
			continue;
		}
		p++;
		if (*p == 'u') {
			const uint8_t *digits = p + 1;
			unsigned c = code_point(&digits, end, &good);

			if (good) {
				o = put_utf8(o, c);
				p = digits;
				continue;
			}
		}
		plain = memchr(from, *p, sizeof from - 1);
		*o++ = plain ? to[plain - from] : (char)*p;
		p++;
	}
	return (size_t)(o - out);
}

/* A text is read as what stands in it. */
static bool bounds(const struct json_value *v, const uint8_t **p, const uint8_t **end)
{
	*p = v->at;
	*end = v->at + v->n;
	if (v->type == JSON_TEXT) {
		while (*p < *end && **p == ' ')
			++*p;
		while (*p < *end && (*end)[-1] == ' ')
			--*end;
	} else if (v->type != JSON_NUMBER) {
		return false;
	}
	return *p < *end;
}

bool json_whole(const struct json_value *v, int64_t *out)
{
	const uint8_t *p, *end;
	uint64_t n = 0;
	bool minus;

	if (!bounds(v, &p, &end))
		return false;
	minus = *p == '-';
	p += minus;
	if (p == end || end - p > 20)
		return false;
	for (; p < end; p++) {
		unsigned digit = *p - '0';

		if (digit > 9 || __builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*out = minus ? -(int64_t)n : (int64_t)n;        /* above 2^63 it is an unsigned one: the same bits */
	return true;
}

bool json_double(const struct json_value *v, double *out)
{
	static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const uint8_t *p, *end, *digits;
	char copy[80], *stop;
	uint64_t n = 0;
	size_t point = 0;
	bool minus;

	if (!bounds(v, &p, &end))
		return false;
	digits = p;
	minus = *digits == '-';
	digits += minus;
	/* Up to 15 digits and a power of ten up to 10^15 are exact doubles, so their quotient is the nearest one. */
	for (; digits < end && end - p <= 17; digits++) {
		if (*digits == '.' && !point)
			point = (size_t)(end - digits - 1) + 1;
		else if (*digits >= '0' && *digits <= '9')
			n = n * 10 + (*digits - '0');
		else
			break;
	}
	if (digits == end && n < 1000000000000000ull && point <= 16) {
		*out = (double)n / tens[point ? point - 1 : 0];
		*out = minus ? -*out : *out;
		return true;
	}
	if ((size_t)(end - p) >= sizeof copy)
		return false;
	memcpy(copy, p, (size_t)(end - p));
	copy[end - p] = '\0';
	if (!((*p >= '0' && *p <= '9') || *p == '-' || *p == '.'))
		return false;
	*out = strtod(copy, &stop);
	return stop != copy && !*stop && *out - *out == 0;
}

static bool by_double(const struct json_value *v, int64_t *ns)
{
	const uint8_t *p, *end;
	char copy[80], *stop;
	long double us;

	if (!bounds(v, &p, &end) || (size_t)(end - p) >= sizeof copy)
		return false;
	memcpy(copy, p, (size_t)(end - p));
	copy[end - p] = '\0';
	if (!((*p >= '0' && *p <= '9') || *p == '-'))
		return false;
	us = strtold(copy, &stop);
	if (stop == copy || *stop || !(us > -9.2e15L && us < 9.2e15L))
		return false;
	*ns = (int64_t)(us * 1000 + (us < 0 ? -0.5L : 0.5L));
	return true;
}

bool json_us(const struct json_value *v, int64_t *ns, bool *fraction)
{
	const uint8_t *p, *end;
	uint64_t n = 0;
	unsigned decimals = 0, round = 0;
	bool minus;

	if (!bounds(v, &p, &end))
		return false;
	minus = *p == '-';
	p += minus;
	if (p == end || end - p > 64)
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (n > 920000000000000000ull)
			return false;
		n = n * 10 + (*p - '0');
	}
	if (p < end && *p == '.') {
		*fraction = true;
		for (p++; p < end && *p >= '0' && *p <= '9'; p++, decimals++) {
			if (decimals == 3)
				round = *p >= '5';
			if (decimals >= 3)
				continue;
			if (n > 920000000000000000ull)
				return false;
			n = n * 10 + (*p - '0');
		}
	}
	if (p < end) {
		*fraction = true;
		return by_double(v, ns);
	}
	for (; decimals < 3; decimals++) {
		if (n > 920000000000000000ull)
			return false;
		n *= 10;
	}
	n += round;
	if (n > 9200000000000000000ull)
		return false;
	*ns = minus ? -(int64_t)n : (int64_t)n;
	return true;
}
