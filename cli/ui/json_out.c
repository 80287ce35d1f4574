#include "cli/ui/json_out.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

/* The thread of out_in_background() and its buffer, which it writes while the other one is filled. */
struct behind {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	FILE *file;
	char *data;
	size_t len;                     /* bytes to write; 0: the thread is idle */
	bool ending, failed;
};

int out_init(struct out *o, FILE *file)
{
	*o = (struct out){ .file = file, .data = malloc(OUT_BUFFER), .screen = screen_is(file), .styled = screen_styled(file) };
	o->failed = !o->data;
	return o->data ? 0 : -1;
}

static void *behind_main(void *arg)
{
	struct behind *b = arg;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		size_t n = b->len;

		if (!n && b->ending)
			break;
		if (!n) {
			pthread_cond_wait(&b->changed, &b->lock);
			continue;
		}
		pthread_mutex_unlock(&b->lock);
		bool failed = fwrite(b->data, 1, n, b->file) != n;

		pthread_mutex_lock(&b->lock);
		b->failed |= failed;
		b->len = 0;
		pthread_cond_signal(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

void out_in_background(struct out *o)
{
	struct behind *b = calloc(1, sizeof *b);

	if (!b)
		return;
	*b = (struct behind){ .file = o->file, .data = malloc(OUT_BUFFER) };
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	if (!b->data || pthread_create(&b->thread, NULL, behind_main, b) != 0) {
		free(b->data);
		free(b);
		return;
	}
	o->behind = b;
}

/* Waits until the thread is idle, then passes the buffer to it; end: and lets the thread end. */
static void behind_give(struct out *o, bool end)
{
	struct behind *b = o->behind;
	char *data;

	pthread_mutex_lock(&b->lock);
	while (b->len)
		pthread_cond_wait(&b->changed, &b->lock);
	o->failed |= b->failed;
	if (!o->failed) {
		data = b->data;
		b->data = o->data;
		b->len = o->len;
		o->data = data;
	}
	b->ending = end;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

static void behind_end(struct out *o)
{
	struct behind *b = o->behind;

	behind_give(o, true);
	pthread_join(b->thread, NULL);
	o->failed |= b->failed;
	free(b->data);
	free(b);
	o->behind = NULL;
}

int out_flush(struct out *o)
{
	/* Bytes of an incomplete character, kept for the next call. */
	size_t begun = o->screen ? screen_begun(o->data + o->cleaned, o->len - o->cleaned) : 0;
	char rest[4];

	memcpy(rest, o->data + o->len - begun, begun);
	o->len -= begun;
	if (o->screen)
		o->len = o->cleaned + screen_clean(o->data + o->cleaned, o->len - o->cleaned);
	o->cleaned = 0;
	o->full |= o->most && o->written + o->len > o->most;
	o->failed |= o->full;
	if (o->behind)
		behind_give(o, false);
	else if (!o->failed && o->len && fwrite(o->data, 1, o->len, o->file) != o->len)
		o->failed = true;
	o->written += o->len;
	o->len = begun;
	memcpy(o->data, rest, begun);
	return o->failed ? -1 : 0;
}

int out_finish(struct out *o)
{
	int rc;

	out_flush(o);
	o->len = 0;             /* an incomplete character at the end is dropped */
	if (o->behind)
		behind_end(o);
	rc = fflush(o->file) != 0 || o->failed ? -1 : 0;
	free(o->data);
	o->data = NULL;
	return rc;
}

void out_large(struct out *o, const void *p, size_t n)
{
	const char *from = p;

	while (n && !o->failed) {
		size_t step = n < OUT_PIECE ? n : OUT_PIECE;

		memcpy(out_room(o, step), from, step);
		o->len += step;
		from += step;
		n -= step;
	}
}

static const char pairs[201] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

static inline unsigned digits_of(uint64_t v)
{
	static const uint64_t power[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
		1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u,
	};
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12; /* 1233 / 4096 is a little above log10(2) */

	return n + (v >= power[n]);
}

/* Writes the last n digits of v at p, with leading zeros.  Divides 32-bit numbers if possible: 64 bits take twice as long. */
static inline void digits_put(char *p, uint64_t v, unsigned n)
{
	uint32_t low;

	while (n > 8) {
		low = (uint32_t)(v % 100000000);
		v /= 100000000;
		for (unsigned i = 0; i < 4; i++, low /= 100)
			memcpy(p + (n -= 2), pairs + low % 100 * 2, 2);
	}
	for (low = (uint32_t)v; n >= 2; low /= 100)
		memcpy(p + (n -= 2), pairs + low % 100 * 2, 2);
	if (n)
		*p = (char)('0' + low % 10);
}

char *digits_u64(char *p, uint64_t v)
{
	unsigned n;

	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	if (v < 100) {
		memcpy(p, pairs + v * 2, 2);
		return p + 2;
	}
	n = digits_of(v);
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
	if (!decimals)
		return digits_u64(p, v);
	if (decimals == 3) {    /* the usual case, with a constant divisor */
		p = digits_u64(p, v / 1000);
		*p = '.';
		digits_put(p + 1, v % 1000, 3);
		return p + 4;
	}
	p = digits_u64(p, v / power[decimals]);
	*p = '.';
	digits_put(p + 1, v % power[decimals], decimals);
	return p + 1 + decimals;
}

size_t text_width_to(const char *text, size_t most)
{
	const char *end = most < SIZE_MAX / 4 ? text + strnlen(text, most * 4) : text + strlen(text);
	size_t width = 0;

	for (size_t n; text < end && width < most; text += n ? n : 1, width++)
		n = utf8_length(text, end);
	return width;
}

size_t text_width(const char *text)
{
	return text_width_to(text, SIZE_MAX);
}

void out_visible_styled(struct out *o, const char *text, size_t width, const struct styled *styled, size_t n_styled)
{
	size_t all = text_width_to(text, width < SIZE_MAX ? width + 1 : width), left = all > width ? width - 1 : all;
	const char *start = text, *end = left < SIZE_MAX / 4 ? text + strnlen(text, left * 4) : text + strlen(text);
	bool begun = false;

	for (; left > 0; left--) {
		size_t n = utf8_length(text, end);

		if (n_styled && !begun && text >= start + styled->from) {
			out_style(o, styled->style);
			begun = true;
		}
		if (n == 0 || screen_controls(text, n))
			out_char(o, '?');
		else
			out_bytes(o, text, n);
		text += n ? n : 1;
		if (begun && text >= start + styled->to) {
			out_style(o, STYLE_PLAIN);
			begun = false;
			styled++;
			n_styled--;
		}
	}
	if (all > width)
		out_lit(o, "\xe2\x80\xa6");
	if (begun)
		out_style(o, STYLE_PLAIN);
}

void out_visible(struct out *o, const char *text, size_t width)
{
	out_visible_styled(o, text, width, NULL, 0);
}

void out_middle(struct out *o, const char *text, size_t width)
{
	size_t n = strlen(text), tail = width * 2 / 5;

	if (n <= width || n != text_width(text)) {
		out_visible(o, text, width);
		return;
	}
	out_visible(o, text, width - tail);
	out_visible(o, text + n - tail, tail);
}

void out_style(struct out *o, enum style style)
{
	static const char *const codes[] = { "\x1b[0m", "\x1b[1m", "\x1b[1;33m" };

	if (!o->styled)
		return;
	out_room(o, 16);        /* so that out_text() below does not flush */
	if (o->screen)
		o->len = o->cleaned + screen_clean(o->data + o->cleaned, o->len - o->cleaned);
	out_text(o, codes[style]);
	o->cleaned = o->len;
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
	while (p < end && !o->failed) {
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

const char *text_bytes(char text[32], uint64_t bytes)
{
	char digits[24];

	if (bytes < 1000000) {
		snprintf(text, 32, "%llu kB", (unsigned long long)(bytes + 999) / 1000);
		return text;
	}
	*digits_fixed(digits, (int64_t)((bytes + 50000) / 100000), 1) = '\0';
	snprintf(text, 32, "%s MB", digits);
	return text;
}

const char *text_time(char text[32], int64_t ns)
{
	static const struct {
		int64_t unit;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
	char digits[24];

	if (ns < 0)
		ns = 0;
	for (size_t i = 0; i < 3; i++) {
		int64_t unit = units[i].unit;
		unsigned decimals = ns >= 100 * unit ? 0 : ns >= 10 * unit ? 1 : 2;
		int64_t step = decimals == 0 ? unit : decimals == 1 ? unit / 10 : unit / 100;

		if (ns < unit)
			continue;
		*digits_fixed(digits, ns / step + (ns % step >= step / 2), decimals) = '\0';
		snprintf(text, 32, "%s %s", digits, units[i].name);
		return text;
	}
	snprintf(text, 32, "%d ns", (int)ns);
	return text;
}
