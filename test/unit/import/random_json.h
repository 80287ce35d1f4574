/* Kineto files of chance: events of all kinds in all spellings, and damage. */
#ifndef TEST_UNIT_IMPORT_RANDOM_JSON_H
#define TEST_UNIT_IMPORT_RANDOM_JSON_H

#include <stddef.h>
#include <stdint.h>

struct random_json {
	uint64_t state;                 /* any; one file each */
	char *text;
	size_t n, size;
};

/* A file of up to `events` events into text, which has size bytes; odd: how many of a hundred values are odd. */
void random_json(struct random_json *r, unsigned events, unsigned odd);

/* Changes, removes and repeats some of its bytes. */
void random_damage(struct random_json *r);

/* 0 to n - 1. */
unsigned random_below(struct random_json *r, unsigned n);

#endif
