/*
 * Bytes out, through one buffer: numbers by hand and exactly, JSON strings escaped.  Ask once at the end: out_finish().
 * A number never passes through a double: 1.5e18 ns with three decimals does not fit one.
 */
#ifndef CLI_JSON_OUT_H
#define CLI_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUT_BUFFER (256u << 10)         /* large enough that write() is below 1 % of formatting */
#define OUT_PIECE  4096u                /* most that out_room() can be asked for */

struct out {
	FILE *file;
	char *data;
	size_t len;
	uint64_t written;               /* bytes handed to file so far, without those in data */
	bool failed;                    /* a write failed, or there was no memory; everything after it is dropped */
	struct behind *behind;          /* json_out.c's own */
};

/* file stays the caller's.  0, or -1: no memory. */
int out_init(struct out *o, FILE *file);

/*
 * From now on full buffers are written by a thread of its own: the kernel takes as long to store a large file as we do
 * to make it. Where there is no thread to be had everything goes on as before.  file must not be used otherwise until
 * out_finish().
 */
void out_in_background(struct out *o);

/* Writes out what is buffered.  0, or -1: something since out_init() was not written. */
int out_flush(struct out *o);

/* out_flush() and release of the buffer. */
int out_finish(struct out *o);

static inline uint64_t out_size(const struct out *o)
{
	return o->written + o->len;
}

/* Room for n more bytes, n <= OUT_PIECE; the caller adds to len what it used. */
static inline char *out_room(struct out *o, size_t n)
{
	if (__builtin_expect(o->len + n > OUT_BUFFER, 0))
		out_flush(o);
	return o->data + o->len;
}

/* More than OUT_PIECE bytes. */
void out_large(struct out *o, const void *p, size_t n);

/* In the header so that short literals become a few stores. */
static inline void out_bytes(struct out *o, const void *p, size_t n)
{
	if (__builtin_expect(n > OUT_PIECE, 0)) {
		out_large(o, p, n);
		return;
	}
	memcpy(out_room(o, n), p, n);
	o->len += n;
}

static inline void out_text(struct out *o, const char *text)
{
	out_bytes(o, text, strlen(text));
}

/* A string literal: the length is known. */
#define out_lit(o, literal) out_bytes((o), "" literal, sizeof(literal) - 1)

static inline void out_char(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->len++;
}

/* Each puts the digits at p (room for 24 bytes) and returns their end. */
char *digits_u64(char *p, uint64_t v);
char *digits_i64(char *p, int64_t v);
/* value / 10^decimals with exactly that many decimals; decimals <= 18. */
char *digits_fixed(char *p, int64_t value, unsigned decimals);

static inline void out_u64(struct out *o, uint64_t v)
{
	o->len = (size_t)(digits_u64(out_room(o, 24), v) - o->data);
}

static inline void out_i64(struct out *o, int64_t v)
{
	o->len = (size_t)(digits_i64(out_room(o, 24), v) - o->data);
}

static inline void out_fixed(struct out *o, int64_t value, unsigned decimals)
{
	o->len = (size_t)(digits_fixed(out_room(o, 24), value, decimals) - o->data);
}

/* n bytes of text as a JSON string with its quotes.  Invalid UTF-8 becomes U+FFFD. */
void json_string_n(struct out *o, const char *text, size_t n);

static inline void json_string(struct out *o, const char *text)
{
	json_string_n(o, text, strlen(text));
}

/* printf, for what is no hot path; cut at OUT_PIECE. */
void out_format(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A time for people: three digits and a unit, 1.23 s, 45.6 ms, 789 us, rounded half up; of a negative one 0 ns. */
const char *text_time(char text[32], int64_t ns);

/* "123 kB", "4.5 MB". */
const char *text_bytes(char text[32], uint64_t bytes);

/* Characters of a text on the screen. */
size_t text_width(const char *text);

/* Text for people: cut with an ellipsis at width characters; what would move the cursor or is no UTF-8 becomes '?'. */
void out_visible(struct out *o, const char *text, size_t width);

/* Length of the UTF-8 character at p, before end; 0: these bytes are not UTF-8. */
size_t utf8_length(const char *p, const char *end);

#endif
