/* Things that repeat become ids, each described to the collector once, before its first use.  Ids are per process. */
#ifndef INJECT_INTERN_H
#define INJECT_INTERN_H

#include "inject/stream.h"

/* Longest string kept; the rest is cut. */
#define INTERN_MAX 32000

/* Strings beyond setting string_limit stand under so many shared names: "(one of many strings, #123)". */
#define INTERN_SHARED      4096u
#define INTERN_SHARED_SIZE 48u

/* Bytes that strings may take. */
uint64_t intern_limit(void);

/* The shared name of a string, into name; its number. */
uint32_t intern_shared(char name[INTERN_SHARED_SIZE], const char *text, size_t n);

/* Id of a string of n bytes; 0 when it cannot be described (arena or table full, counted). */
uint32_t intern_bytes(struct stream *s, const char *text, size_t n);

/* Zero-terminated; NULL is 0. */
uint32_t intern_text(struct stream *s, const char *text);

/* One character as UTF-8, 1 to 4 bytes; how many. */
size_t utf8_put(char *out, uint32_t c);

/* wchar_t text as UTF-8 into at most size bytes, whole characters only; the length, no terminating zero. */
size_t utf8_of(char *out, size_t size, const wchar_t *text);

/* wchar_t text as UTF-8. */
uint32_t intern_wide(struct stream *s, const wchar_t *text);

/* Id of a launch configuration; config->id is filled in. */
uint32_t intern_config(struct stream *s, struct config_row *config);

/*
 * Id of a Python code object with that line table, which is not kept: equal names, file, line and 64 bits of hash are equal.
 * code->id is filled in.
 */
uint32_t intern_code(struct stream *s, struct code_row *code, const void *table);

/* "key=value" about this process (attribute row); at most 1000 bytes. */
void intern_attribute(struct stream *s, const char *key, const char *value);

#endif
