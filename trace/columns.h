/*
 * Rows <-> columns.  Knows records, not files.
 *
 * A chunk's body is a directory of struct column, then the stored bytes of each column.  A column is one field of all rows (varints
 * of the values, or of zigzag deltas), or the tails of all rows.  A column of one repeated value is stored as that one value, a
 * column of zeros not at all.  Each column is its own zstd frame (where that makes it smaller), so a reader decodes only what it
 * needs and skips columns it does not know.
 */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include "trace/buf.h"
#include "trace/records.h"

#define COLUMN_TAIL 0xffffu             /* column id of the tails */

enum encoding {
	ENCODING_CONST,                 /* one zigzag varint: the value of every row */
	ENCODING_PLAIN,                 /* a varint each */
	ENCODING_DELTA,                 /* a zigzag varint each: the difference, modulo 2^64, to the row before; the first to 0 */
	ENCODING_SIGNED,                /* a zigzag varint each */
	ENCODING_BYTES,                 /* the tails */
};
#define ENCODING_ZSTD 0x80u             /* or'ed in: the stored bytes are a zstd frame of `raw` bytes */

#define CHUNK_RAW_MAX (64u << 20)       /* rows and tails of one chunk in memory; bounds what a damaged file makes us allocate */

/* On disk, little endian, 12 bytes. */
struct column {
	uint16_t id;                    /* position of the field in its record, or COLUMN_TAIL */
	uint8_t encoding;
	uint8_t reserved;
	uint32_t stored, raw;           /* bytes in the file, bytes before zstd */
};

struct packer;                          /* zstd state and scratch memory of one writer */

/* NULL when out of memory. */
struct packer *packer_new(void);
void packer_free(struct packer *p);

/*
 * Appends the body of a chunk to out: n rows (structs of r, one after the other) and, where r has tails, the tails one after the
 * other without padding, tail_bytes in all.  Returns the number of columns (directory entries), or -1 when out of memory.
 */
int columns_encode(struct packer *p, struct buf *out, const struct record *r, const void *rows, size_t n,
		   const uint8_t *tails, size_t tail_bytes);

/*
 * One column out of a body: n values of field f of r, each sizeof(field) wide, into out.  Fields that the file does not have (an
 * older writer) become 0.  0, or -1: the body makes no sense.
 */
int column_decode(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f, void *out, size_t n);

/* The tails, one after the other, appended to out.  0 or -1. */
int column_tails(const uint8_t *body, size_t size, unsigned n_columns, struct buf *out);

#endif
