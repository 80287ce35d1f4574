/*
 * Rows <-> columns.  Knows records, not files.
 *
 * A chunk's body is a directory of struct column, then the bytes of each column.  A column is one field of all rows, or
 * the tails of all rows.  Its numbers are made small (differences, a common base) and cut into planes: the lowest byte
 * of all rows, the second lowest of all rows, ...; zstd sees one kind of byte at a time, and a reader puts numbers
 * together without a branch.  A column of one repeated value has no planes at all, a column of zeros is left out.  A
 * reader decodes only what it needs and skips columns it does not know.
 */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include "trace/buf.h"
#include "trace/records.h"

#define COLUMN_TAIL 0xffffu             /* column id of the tails */

/*
 * What the planes of a column hold, x being the number put together from them.  Arithmetic is modulo 2^(8 * size of the
 * field).
 */
enum encoding {
	ENCODING_PLAIN,                 /* value = base + x */
	ENCODING_SIGNED,                /* value = unzigzag(base + x) */
	ENCODING_DELTA,                 /* first row: base.  Others: value of the row before + unzigzag(x) */
	ENCODING_GAP,                   /* the same, plus the value of `duration` of the row before: only for `start` */
	ENCODING_BYTES,                 /* the tails: one plane, base is its length */
};

/*
 * On disk, little endian, 16 bytes.  `width` planes follow each other, the lowest byte first; each is a varint, bytes
 * << 1 | 1 if they are a zstd frame, and those bytes.
 */
struct column {
	uint16_t id;                    /* position of the field in its record, or COLUMN_TAIL */
	uint8_t encoding, width;
	uint32_t stored;                /* bytes in the file */
	uint64_t base;
};

/* Bytes of rows and tails of one chunk in memory; bounds what a damaged file makes us allocate. */
#define CHUNK_RAW_MAX (64u << 20)

struct packer;                          /* zstd state and scratch memory of one writer */

/* NULL when out of memory. */
struct packer *packer_new(void);
void packer_free(struct packer *p);

/*
 * Appends the body of a chunk to out: n rows (structs of r, one after the other) and, where r has tails, the tails one
 * after the other without padding, tail_bytes in all.  Returns the number of columns (directory entries), or -1 when
 * out of memory.
 */
int columns_encode(struct packer *p, struct buf *out, const struct record *r, const void *rows, size_t n,
		   const uint8_t *tails, size_t tail_bytes);

/*
 * One column out of a body: n values of field f of r, each sizeof(field) wide, into out.  Fields that the file does not
 * have (an older writer) become 0.  0, or -1: the body makes no sense, or (errno ENOMEM) there is no memory.
 */
int column_decode(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f, void *out,
		  size_t n);

/*
 * The same, for who has the values of the record's `duration` already: a column `start` of gaps needs them.  NULL:
 * decodes them too.
 */
int column_decode_known(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f,
			void *out, size_t n, const uint64_t *lengths);

/* The tails, one after the other, appended to out.  0 or -1. */
int column_tails(const uint8_t *body, size_t size, unsigned n_columns, struct buf *out);

#endif
