/* Each distinct text once, with a number from 1; 0 is no text. */
#ifndef IMPORT_TEXTS_H
#define IMPORT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_value;

struct text {
	const char *at;                 /* n bytes, and a zero behind them */
	uint32_t n, hash;
	uint32_t as;                    /* texts_json(): how it is written in the trace; 0: not known yet */
	uint8_t what;                   /* the caller's; 0 in a new one */
};

struct texts {
	struct text *list;              /* by number */
	uint32_t n, cap;                /* n: of the next */
	uint32_t *places;               /* hash table of numbers; 0: free */
	uint32_t mask;
	uint64_t secret[2];
	struct text_block *blocks;
	char *room;
	size_t left;
	char *scratch;
	size_t scratch_size;
	bool oom;
};

/* 0: out of memory, and texts->oom. */
uint32_t texts_put(struct texts *t, const char *at, size_t n);

/* A JSON text without its escapes. */
uint32_t texts_value(struct texts *t, const struct json_value *v);

/* A list or object as Python and Kineto write it: ", " and ": ", and no other blanks. */
uint32_t texts_json(struct texts *t, const struct json_value *v);

void texts_free(struct texts *t);

#endif
