/*
 * Converts rows to columns and back.  Knows records, not files.
 *
 * A chunk's body is a directory of struct column, then the bytes of each column.  A column is one field of all rows, or
 * the tails of all rows.  The encoder makes the numbers of a column small (differences, a common base) and cuts them into
 * planes: the lowest byte of all rows, the second lowest byte of all rows, ...  So zstd compresses bytes of one kind, and a
 * reader joins the planes without branches.  A column of one repeated value has no planes, a column of zeros is left out.
 * A reader decodes only the columns it needs and skips unknown ones.
 */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include "trace/buf.h"
#include "trace/records.h"

#define COLUMN_TAIL 0xffffu             /* column id of the tails */

/* How a value follows from x, the number joined from the column's planes.  Arithmetic is modulo 2^(8 * size of the field). */
enum encoding {
	ENCODING_PLAIN,                 /* value = base + x */
	ENCODING_SIGNED,                /* value = unzigzag(base + x) */
	ENCODING_DELTA,                 /* first row: base.  Others: value of the row before + unzigzag(x) */
	ENCODING_GAP,                   /* as DELTA, plus the value of `duration` of the row before: only for `start` */
	ENCODING_BYTES,                 /* the tails: one plane, base is its length */
};

/*
 * Directory entry on disk: 16 bytes, little endian.  The column has `width` planes, the lowest byte first.  Each plane is a
 * varint, n << 1 | z, then n bytes: a zstd frame of the plane if z is 1, the plane itself if z is 0.
 */
struct column {
	uint16_t id;                    /* position of the field in its record, or COLUMN_TAIL */
	uint8_t encoding, width;
	uint32_t stored;                /* bytes in the file */
	uint64_t base;
};

/* Limit of the bytes of one chunk's rows and tails in memory; bounds the allocations that a damaged file can cause. */
#define CHUNK_RAW_MAX (64u << 20)

struct packer;                          /* zstd state and scratch memory of one writer */

/* Returns NULL when out of memory.  packer_free() accepts NULL. */
struct packer *packer_new(void);
void packer_free(struct packer *p);

/*
 * Appends the body of a chunk to out.  rows: n structs of r.  tails: the tails of all rows without padding, tail_bytes in all,
 * if r has tails.  Returns the number of columns (directory entries), or -1: out of memory.
 */
int columns_encode(struct packer *p, struct buf *out, const struct record *r, const void *rows, size_t n,
		   const uint8_t *tails, size_t tail_bytes);

/*
 * Decodes one column of a body: n values of field f of r, each as wide as the field, into out.  A field that the file lacks
 * (older writer) becomes 0.  Returns 0, or -1: the body is damaged, or out of memory (errno ENOMEM).
 */
int column_decode(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f, void *out,
		  size_t n);

/* As column_decode(), but takes decoded durations, which a gap-encoded `start` column is relative to.  lengths NULL: decodes them. */
int column_decode_known(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f,
			void *out, size_t n, const uint64_t *lengths);

/* Appends the tails of all rows to out.  Returns 0, or -1: as column_decode(), or the tails have more than `most` bytes. */
int column_tails(const uint8_t *body, size_t size, unsigned n_columns, size_t most, struct buf *out);

#endif
