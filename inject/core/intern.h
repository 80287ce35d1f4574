/*
 * Replaces repeated strings, launch configurations and Python code objects by ids.  Each is described to the collector once, before its id
 * is first used.  Ids are per process, from 1; 0: none.  Any thread, inside stream_enter(); nothing may be reserved in s.
 */
#ifndef INJECT_CORE_INTERN_H
#define INJECT_CORE_INTERN_H

#include "inject/core/stream.h"

/* Longest string kept, in bytes; the rest is cut. */
#define INTERN_MAX 32000

/* Once strings exceed setting string_limit, new ones share this many placeholder names: "(one of many strings, #123)". */
#define INTERN_SHARED      4096u
#define INTERN_SHARED_SIZE 48u

/* Setting string_limit: bytes that strings and their table may take. */
uint64_t intern_limit(void);

/* Writes the placeholder name of a string into name; returns its number. */
uint32_t intern_shared(char name[INTERN_SHARED_SIZE], const char *text, size_t n);

/* Id of a string of n bytes; 0 when it cannot be described (arena or table full, counted). */
uint32_t intern_bytes(struct stream *s, const char *text, size_t n);

/* Id of a zero-terminated string; 0 for NULL. */
uint32_t intern_text(struct stream *s, const char *text);

/* Writes one character as UTF-8; returns its length, 1 to 4 bytes. */
size_t utf8_put(char *out, uint32_t c);

/* Writes wchar_t text as UTF-8, at most size bytes, whole characters only, not terminated; returns the length. */
size_t utf8_of(char *out, size_t size, const wchar_t *text);

/* Id of wchar_t text as UTF-8, cut after 4096 bytes; 0 for NULL. */
uint32_t intern_wide(struct stream *s, const wchar_t *text);

/* Id of a launch configuration, also stored in config->id; 0 when it cannot be described. */
uint32_t intern_config(struct stream *s, struct config_row *config);

/*
 * Id of a Python code object, also stored in code->id; table: its line table, code->bytes long, described but not kept.  Objects with
 * equal row and equal 64-bit hash of the table are taken for the same.
 */
uint32_t intern_code(struct stream *s, struct code_row *code, const void *table);

/* Writes an attribute row "key=value" about this process; cut after 1023 bytes. */
void intern_attribute(struct stream *s, const char *key, const char *value);

#endif
