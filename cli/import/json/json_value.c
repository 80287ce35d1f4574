/* Conversion of JSON values to texts, numbers and times. */
#include <stdlib.h>
#include <string.h>

#include "cli/import/json/json_scan.h"

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

/* Reads the digits of a \u escape at *p, and a second escape for a surrogate pair; moves *p.  A lone surrogate becomes U+FFFD. */
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

/* The bytes of a number, or of a text without blanks around it.  False: another type, or no bytes. */
static bool bounds(const struct json_value *v, const uint8_t **p, const uint8_t **end)
{
	if (v->type != JSON_TEXT && v->type != JSON_NUMBER)
		return false;           /* for other types `at` may be unset */
	*p = v->at;
	*end = v->at + v->n;
	if (v->type == JSON_TEXT) {
		while (*p < *end && **p == ' ')
			++*p;
		while (*p < *end && (*end)[-1] == ' ')
			--*end;
	}
	return *p < *end;
}

/* Appends eight digits to *n.  False: not all are digits.  Combines pairs, then fours, then all eight. */
static inline bool eight(const uint8_t *p, uint64_t *n)
{
	uint64_t v;

	memcpy(&v, p, 8);
	if (((v & 0xf0f0f0f0f0f0f0f0ull) | ((v + 0x0606060606060606ull) & 0xf0f0f0f0f0f0f0f0ull) >> 4) != 0x3333333333333333ull)
		return false;
	v = (v & 0x0f0f0f0f0f0f0f0full) * 2561 >> 8;
	v = (v & 0x00ff00ff00ff00ffull) * 6553601 >> 16;
	*n = *n * 100000000 + ((v & 0x0000ffff0000ffffull) * 42949672960001ull >> 32);
	return true;
}

/* Reads digits into *n, at most 18, which fit.  Returns the byte after them. */
static inline const uint8_t *digits(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	if (end - p > 18)
		end = p + 18;
	while (end - p >= 8 && eight(p, n))
		p += 8;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		*n = *n * 10 + (*p - '0');
	return p;
}

bool json_whole(const struct json_value *v, int64_t *out)
{
	const uint8_t *p, *end;
	uint64_t n = 0;
	bool minus;

	if (v->type == JSON_NUMBER && v->n <= 18 && *v->at != '-') {
		if (digits(v->at, v->at + v->n, &n) != v->at + v->n)
			return false;
		*out = (int64_t)n;
		return true;
	}
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
	*out = (int64_t)(minus ? -n : n);        /* 2^63 and above: an unsigned number, the same bits */
	return true;
}

bool json_double(const struct json_value *v, double *out)
{
	static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const uint8_t *p, *end, *at;
	char copy[80], *stop;
	uint64_t n = 0;
	size_t point = 0;
	bool minus;

	if (!bounds(v, &p, &end))
		return false;
	at = p;
	minus = *at == '-';
	at += minus;
	/* Integers of up to 15 digits and powers of ten up to 10^15 are exact doubles, so their quotient is correctly rounded. */
	for (; at < end && end - p <= 17; at++) {
		if (*at == '.' && !point)
			point = (size_t)(end - at - 1) + 1;
		else if (*at >= '0' && *at <= '9')
			n = n * 10 + (*at - '0');
		else
			break;
	}
	if (at == end && n < 1000000000000000ull && point <= 16) {
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
	p = digits(p, end, &n);
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
