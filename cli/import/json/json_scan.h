/*
 * Pull parser for JSON in memory that grows while it is read.
 *
 * Accepts the errors of real files: control characters and unescaped quotes in texts, NaN, N/A, extra commas.  No recursion;
 * time is linear in the number of bytes.
 */
#ifndef CLI_IMPORT_JSON_JSON_SCAN_H
#define CLI_IMPORT_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_SLACK 64u          /* bytes after `end` that must be readable; their values do not matter */

struct scan {
	const uint8_t *p;               /* next byte */
	const uint8_t *end;             /* end of the bytes available now */
	/* Waits for more bytes and moves `end`.  False: there are no more. */
	bool (*more)(struct scan *s);
	void *arg;
	const uint8_t *(*find)(const uint8_t *p, const uint8_t *end);   /* set by scan_init() */
	uint64_t odd_quotes;            /* unescaped quotes found inside texts */
	const uint8_t *too_deep;        /* the last bracket that was nested too deep; NULL: none */
};

enum json_type {
	JSON_NOTHING,                   /* the input ends */
	JSON_BAD,                       /* not a JSON value, or nested too deep */
	JSON_TEXT,                      /* at, n: the bytes between the quotes */
	JSON_NUMBER,
	JSON_TRUE, JSON_FALSE, JSON_NULL,
	JSON_WORD,                      /* NaN, N/A, ...: not JSON, but found in real files */
	JSON_OBJECT, JSON_LIST,         /* at, n: with the brackets */
};

struct json_value {
	const uint8_t *at;
	size_t n;
	enum json_type type;
	bool escaped;                   /* a text with backslashes */
};

/* Sets the fields other than p, end, more and arg, which the caller sets. */
void scan_init(struct scan *s);

/* Returns the next byte that is not a blank, without consuming it; -1: end of input. */
int scan_peek(struct scan *s);

/* Reads the next value, an object or list with all of its contents.  Returns v->type; v->at points into the input. */
enum json_type scan_value(struct scan *s, struct json_value *v);

/*
 * Reads the next key of an object and the colon; s->p is after the { or after a value.  Returns JSON_TEXT for a key,
 * JSON_OBJECT when it consumed the }, JSON_NOTHING or JSON_BAD.
 */
enum json_type scan_key(struct scan *s, struct json_value *key);

/* Return the next `"` or `\` from p on, or a pointer at or beyond `end`.  Two implementations, public for tests and benchmarks. */
const uint8_t *scan_find_plain(const uint8_t *p, const uint8_t *end);
const uint8_t *scan_find_avx2(const uint8_t *p, const uint8_t *end);
bool scan_has_avx2(void);

/* Writes the text v to `out` without its escapes, no NUL.  Returns the number of bytes, at most v->n. */
size_t json_text(const struct json_value *v, char *out);

/* An integer, also in quotes; from 2^63 to 2^64 - 1 the bits of an unsigned one.  False: not an integer, or too large. */
bool json_whole(const struct json_value *v, int64_t *out);

/* A finite number, also in quotes.  False: not a finite number. */
bool json_double(const struct json_value *v, double *out);

/*
 * Converts a number of microseconds, also in quotes, to ns; more than three decimals are rounded to the nearest ns.  False:
 * not a number, or too large.  Sets *fraction if the number has a point or an exponent, else leaves it unchanged.
 */
bool json_us(const struct json_value *v, int64_t *ns, bool *fraction);

#endif
