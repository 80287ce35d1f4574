/*
 * Buffered output of bytes, exact numbers and JSON strings.  Errors are kept; the caller checks once, with out_finish().
 * Numbers are never converted to double: 1.5e18 ns with three decimals would lose digits.
 */
#ifndef CLI_UI_JSON_OUT_H
#define CLI_UI_JSON_OUT_H

#include "cli/ui/screen.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUT_BUFFER (256u << 10)         /* bytes; at this size write() takes less than 1 % of the time of formatting */
#define OUT_PIECE  4096u                /* largest request to out_room() */

struct out {
	FILE *file;
	char *data;
	size_t len;
	uint64_t written;               /* bytes passed to file so far, without those in data */
	uint64_t most;                  /* limit of bytes to write; 0: none.  Set by the caller after out_init() */
	bool failed;                    /* a write failed, out of memory, or full; later output is dropped */
	bool full;                      /* `most` was exceeded */
	bool screen;                    /* file is a terminal: output goes through screen_clean() (screen.h) */
	bool styled;                    /* out_style() has an effect */
	size_t cleaned;                 /* with screen: bytes at the start of data that went through screen_clean() */
	struct behind *behind;          /* private to json_out.c */
};

/* The caller closes file, after out_finish().  0, or -1: out of memory. */
int out_init(struct out *o, FILE *file);

/*
 * Lets a thread write full buffers: for a large file the kernel takes as long to store it as this program to format it.
 * Without a thread, output continues as before.  Until out_finish(), nobody else may use file.
 */
void out_in_background(struct out *o);

/* Writes the buffer.  0, or -1: some output since out_init() was not written. */
int out_flush(struct out *o);

/* out_flush(), and frees the buffer.  Returns as out_flush(). */
int out_finish(struct out *o);

/* Bytes of output so far, buffered ones included. */
static inline uint64_t out_size(const struct out *o)
{
	return o->written + o->len;
}

/* Returns room for n more bytes, n <= OUT_PIECE; the caller adds the number of bytes it used to len. */
static inline char *out_room(struct out *o, size_t n)
{
	if (__builtin_expect(o->len + n > OUT_BUFFER, 0))
		out_flush(o);
	return o->data + o->len;
}

/* out_bytes() for more than OUT_PIECE bytes. */
void out_large(struct out *o, const void *p, size_t n);

/* Writes n bytes.  Inline, so that short literals become a few stores. */
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

/* Writes a string literal, whose length is known at compile time. */
#define out_lit(o, literal) out_bytes((o), "" literal, sizeof(literal) - 1)

static inline void out_char(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->len++;
}

/* Write the digits of a number at p, which has room for 24 bytes, no NUL.  Return the end. */
char *digits_u64(char *p, uint64_t v);
char *digits_i64(char *p, int64_t v);
/* The same for value / 10^decimals, with exactly that many decimals; decimals <= 18. */
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

/* Writes n bytes of text as a JSON string with quotes.  Invalid UTF-8 becomes U+FFFD. */
void json_string_n(struct out *o, const char *text, size_t n);

static inline void json_string(struct out *o, const char *text)
{
	json_string_n(o, text, strlen(text));
}

/* printf(), slow; cut at OUT_PIECE bytes. */
void out_format(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes a time with three digits and a unit, 1.23 s, 45.6 ms, 789 us, rounded half up; 0 ns if negative.  Returns text. */
const char *text_time(char text[32], int64_t ns);

/* Writes a size, "123 kB" or "4.5 MB"; returns text. */
const char *text_bytes(char text[32], uint64_t bytes);

/* Width of a text on the screen, in characters; text_width_to() stops counting at `most`. */
size_t text_width(const char *text);
size_t text_width_to(const char *text, size_t most);

/* Writes a text, cut with an ellipsis at width characters.  Controls (screen.h) and bytes that are not UTF-8 become '?'. */
void out_visible(struct out *o, const char *text, size_t width);

/* As out_visible(), for names, which often differ at their ends: a longer ASCII text loses its middle. */
void out_middle(struct out *o, const char *text, size_t width);

/* Sets the style of the following output; it takes no columns.  The caller sets STYLE_PLAIN again in the same line. */
void out_style(struct out *o, enum style style);

/* A range of bytes of a text with a style. */
struct styled {
	size_t from, to;
	enum style style;
};

/* As out_visible(), with n styled ranges, in order. */
void out_visible_styled(struct out *o, const char *text, size_t width, const struct styled *styled, size_t n);

#endif
