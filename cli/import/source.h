/*
 * A file as bytes in memory, one after the other, that a thread of its own reads and unpacks ahead.  Knows files and
 * packing, not what is in them.
 *
 * Addresses are reserved for the whole file, memory is not: what source_release() gives back is gone.  So who reads has
 * plain pointers into the file, and text can stay where it is.
 */
#ifndef IMPORT_SOURCE_H
#define IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/error.h"

#define SOURCE_SLACK 64u        /* bytes behind those that are there may be read, and are anything */

struct source;

/* NULL: *err says why, with the file's name. */
struct source *source_open(const char *path, struct trace_error *err);
void source_close(struct source *s);

const uint8_t *source_base(const struct source *s);

/* Waits for more than `have` bytes from the beginning on.  How many there are; `have`: that was all. */
size_t source_wait(struct source *s, size_t have);

/* The bytes before this offset are not needed any more.  Cheap; call it often. */
void source_release(struct source *s, size_t before);

/* After the end: why it ended too early, for people ("unpacking ends in the middle"); NULL: it did not. */
const char *source_trouble(struct source *s);

/* The bytes of the file itself, packed as it is. */
uint64_t source_file_bytes(const struct source *s);

/* ---- source_head.c ---- */
enum packing { PLAIN, GZIP, ZSTD };

/* What n bytes at the beginning of a file say. */
enum packing source_packing(const uint8_t *head, size_t n);

/*
 * The beginning of a file, unpacked: room bytes, or up to half a KiB less of a packed one; less also where the file is not longer (*all),
 * or its beginning packs to more than room.  -1: it cannot be read, or is no file; a pipe is left alone.
 */
ssize_t source_head(const char *path, uint8_t *to, size_t room, bool *all);

#endif
