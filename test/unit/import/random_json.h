/* Random Kineto files: events of all kinds, in different spellings of JSON, and damaged files. */
#ifndef TEST_UNIT_IMPORT_RANDOM_JSON_H
#define TEST_UNIT_IMPORT_RANDOM_JSON_H

#include <stddef.h>
#include <stdint.h>

struct random_json {
	uint64_t state;                 /* seed: each value makes another file */
	char *text;
	size_t n, size;
};

/* Writes a file of up to `events` events to text, which has room for `size` bytes.  odd: percent of values that are unusual. */
void random_json(struct random_json *r, unsigned events, unsigned odd);

/* Changes, removes and repeats some bytes of the file. */
void random_damage(struct random_json *r);

/* Returns a random number from 0 to n - 1. */
unsigned random_below(struct random_json *r, unsigned n);

#endif
