#include "cli/json_out.h"

#include <stdarg.h>
#include <stdlib.h>

int out_init(struct out *o, FILE *file)
{
	*o = (struct out){ .file = file, .data = malloc(OUT_BUFFER) };
	o->failed = !o->data;
	return o->data ? 0 : -1;
}

int out_flush(struct out *o)
{
	if (!o->failed && o->len && fwrite(o->data, 1, o->len, o->file) != o->len)
		o->failed = true;
	o->written += o->len;
	o->len = 0;
	return o->failed ? -1 : 0;
}

int out_finish(struct out *o)
{
	int rc = out_flush(o);

	if (fflush(o->file) != 0)
		rc = -1;
	free(o->data);
	o->data = NULL;
	return rc;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	const char *from = p;

	if (n > OUT_PIECE) {
		out_flush(o);
		if (!o->failed && fwrite(from, 1, n, o->file) != n)
			o->failed = true;
		o->written += n;
		return;
	}
	memcpy(out_room(o, n), from, n);
	o->len += n;
}

static const char pairs[201] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

static unsigned digits_of(uint64_t v)
{
	unsigned n = 1;

	for (;; n += 4, v /= 10000) {
		if (v < 10)
			return n;
		if (v < 100)
			return n + 1;
		if (v < 1000)
			return n + 2;
		if (v < 10000)
			return n + 3;
	}
}

/* The last n digits of v at p, with leading zeros. */
static void digits_put(char *p, uint64_t v, unsigned n)
{
	while (n >= 2) {
		n -= 2;
		memcpy(p + n, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (n)
		*p = (char)('0' + v % 10);
}

char *digits_u64(char *p, uint64_t v)
{
	unsigned n = digits_of(v);

	digits_put(p, v, n);
	return p + n;
}

char *digits_i64(char *p, int64_t v)
{
	if (v < 0)
		*p++ = '-';
	return digits_u64(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

char *digits_fixed(char *p, int64_t value, unsigned decimals)
{
	static const uint64_t power[] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
		1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000,
	};
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (value < 0)
		*p++ = '-';
	p = digits_u64(p, v / power[decimals]);
	if (decimals) {
		*p++ = '.';
		digits_put(p, v % power[decimals], decimals);
		p += decimals;
	}
	return p;
}

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t utf8_length(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t left = (size_t)(end - p), n;

	if (!left)
		return 0;
	if (s[0] < 0x80)
		return 1;
	n = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	if (!n || left < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

size_t text_width(const char *text)
{
	const char *end = text + strlen(text);
	size_t width = 0;

	for (size_t n; text < end; text += n ? n : 1, width++)
		n = utf8_length(text, end);
	return width;
}

void out_visible(struct out *o, const char *text, size_t width)
{
	const char *end = text + strlen(text);
	size_t all = text_width(text), left = all > width ? width - 1 : all;

	for (; left > 0; left--) {
		size_t n = utf8_length(text, end);
		unsigned char c = (unsigned char)*text;

		if (n == 0 || c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)text[1] < 0xa0))
			out_char(o, '?');
		else
			out_bytes(o, text, n);
		text += n ? n : 1;
	}
	if (all > width)
		out_lit(o, "\xe2\x80\xa6");
}

void out_format(struct out *o, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(out_room(o, OUT_PIECE), OUT_PIECE, fmt, args);
	va_end(args);
	o->len += n < 0 ? 0 : (size_t)n < OUT_PIECE ? (size_t)n : OUT_PIECE - 1;
}

static void json_control(struct out *o, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char *p = out_room(o, 6);

	switch (c) {
	case '"': case '\\':
		memcpy(p, (char[]){ '\\', (char)c }, 2);
		o->len += 2;
		return;
	case '\n': case '\t':
		memcpy(p, (char[]){ '\\', c == '\n' ? 'n' : 't' }, 2);
		o->len += 2;
		return;
	default:
		memcpy(p, (char[]){ '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] }, 6);
		o->len += 6;
	}
}

void json_string_n(struct out *o, const char *text, size_t n)
{
	const char *p = text, *end = text + n, *plain = text;

	out_char(o, '"');
	while (p < end) {
		unsigned char c = (unsigned char)*p;
		size_t step = c < 0x80 ? 1 : utf8_length(p, end);

		if (step && c >= 0x20 && c != '"' && c != '\\') {
			p += step;
			continue;
		}
		out_bytes(o, plain, (size_t)(p - plain));
		if (step)
			json_control(o, c);
		else
			out_lit(o, "\xef\xbf\xbd");
		plain = ++p;
	}
	out_bytes(o, plain, (size_t)(p - plain));
	out_char(o, '"');
}
