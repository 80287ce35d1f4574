/*
 * A file (plain, gzip or zstd) as one range of bytes in memory.  A thread reads and decompresses ahead of the reader.
 *
 * Address space is reserved for the whole file, memory is not: bytes that source_release() returned must not be read again.
 * The reader uses plain pointers into the file, which stay valid until their bytes are released.
 */
#ifndef CLI_IMPORT_BYTES_SOURCE_H
#define CLI_IMPORT_BYTES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/error.h"

#define SOURCE_SLACK 64u        /* bytes after the available ones that may be read; their values do not matter */

struct source;

/* NULL: *err says why and names the file.  The caller calls source_close(), which accepts NULL and stops the thread. */
struct source *source_open(const char *path, struct trace_error *err);
void source_close(struct source *s);

/* The address of the file's first byte; offsets below are relative to it. */
const uint8_t *source_base(const struct source *s);

/* Waits until more than `have` bytes are available.  Returns their number; `have`: the file has no more. */
size_t source_wait(struct source *s, size_t have);

/* Allows the source to free the bytes before this offset.  Cheap; call it often. */
void source_release(struct source *s, size_t before);

/* When source_wait() reported the end: why the bytes end too early, as a text for the user; NULL: they do not. */
const char *source_trouble(struct source *s);

/* Size of the file in bytes, before decompression; 0 for a pipe. */
uint64_t source_file_bytes(const struct source *s);

/* ---- source_head.c ---- */
enum packing { PLAIN, GZIP, ZSTD };

/* The compression of a file, from its first n bytes. */
enum packing source_packing(const uint8_t *head, size_t n);

/*
 * Reads the beginning of a file, decompressed, and returns the number of bytes: `room`, or up to 512 less if compressed.
 * Less too if the file is shorter (*all is true), or if its first `room` compressed bytes expand to less.  -1: unreadable,
 * or not a regular file; nothing is read from a pipe.
 */
ssize_t source_head(const char *path, uint8_t *to, size_t room, bool *all);

#endif
