/*
 * JSON, pulled piece by piece out of memory that grows while it is read.  Knows JSON, not what it is about.
 *
 * Forgiving where real files are wrong: control characters and quotes in texts, NaN, N/A, commas too many.  Nothing
 * recurses, so depth costs nothing; each byte is looked at a fixed number of times.
 */
#ifndef IMPORT_JSON_SCAN_H
#define IMPORT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_SLACK 64u          /* bytes behind those that are there may be read, and are anything */

struct scan {
	const uint8_t *p;               /* next byte */
	const uint8_t *end;             /* behind the bytes that are there */
	/* Waits for more bytes behind `end`, which is moved.  False: there are none. */
	bool (*more)(struct scan *s);
	void *arg;
	const uint8_t *(*find)(const uint8_t *p, const uint8_t *end);   /* scan_init() */
	uint64_t odd_quotes;            /* met inside of texts */
	const uint8_t *too_deep;        /* the last bracket that was one too many inside of others; NULL: none was */
};

enum json_type {
	JSON_NOTHING,                   /* the bytes are at their end */
	JSON_BAD,                       /* no value begins so */
	JSON_TEXT,                      /* at, n: between the quotes */
	JSON_NUMBER,
	JSON_TRUE, JSON_FALSE, JSON_NULL,
	JSON_WORD,                      /* NaN, N/A, ...: no JSON, but met */
	JSON_OBJECT, JSON_LIST,         /* at, n: with their brackets */
};

struct json_value {
	const uint8_t *at;
	size_t n;
	enum json_type type;
	bool escaped;                   /* a text with backslashes */
};

/* s: p, end, more and arg are the caller's. */
void scan_init(struct scan *s);

/* The next byte that is no blank, left where it is; -1: the end. */
int scan_peek(struct scan *s);

/* The next value, whole. */
enum json_type scan_value(struct scan *s, struct json_value *v);

/* In an object, behind its { or a value: the next key.  JSON_TEXT, JSON_OBJECT for its }, JSON_NOTHING, JSON_BAD. */
enum json_type scan_key(struct scan *s, struct json_value *key);

/* The next `"` or `\` from p on, perhaps behind end.  The two ways to find it, for tests and the benchmark. */
const uint8_t *scan_find_plain(const uint8_t *p, const uint8_t *end);
const uint8_t *scan_find_avx2(const uint8_t *p, const uint8_t *end);
bool scan_has_avx2(void);

/* Text without its escapes, at most v->n bytes into out.  Their number. */
size_t json_text(const struct json_value *v, char *out);

/* A whole number that fits, also in quotes.  False: it is none. */
bool json_whole(const struct json_value *v, int64_t *out);

/* Any number, also in quotes; nan and inf are none. */
bool json_double(const struct json_value *v, double *out);

/*
 * A number of microseconds, also in quotes, as ns, exactly where it has up to three decimals, else to the nearest.
 * False: it is none, or it does not fit.  *fraction is set where it is written with a point or an exponent.
 */
bool json_us(const struct json_value *v, int64_t *ns, bool *fraction);

#endif
