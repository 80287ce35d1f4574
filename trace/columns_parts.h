/* Shared by columns.c and columns_split.c: a column while it is converted from rows to planes. */
#ifndef TRACE_COLUMNS_PARTS_H
#define TRACE_COLUMNS_PARTS_H

#include "trace/columns.h"

#define PLANES 8                        /* bytes of the widest field */

/*
 * Bytes from one plane to the next: n, rounded up because planes are written 16 bytes at a time, plus an offset that keeps planes out of
 * the same cache sets.
 */
#define PLANE_STRIDE(n) (((n) + 63) / 64 * 64 + 1088)

struct lane {
	const struct field *field;
	enum encoding encoding;
	ptrdiff_t lengths;              /* for ENCODING_GAP: offset in the row from the field to `duration` */
	uint64_t first;                 /* value of the first row */
	uint64_t x;                     /* number of the first row, as the encoding defines it */
	uint64_t bits;                  /* bits in which any number differs from x */
	bool differs;                   /* some value differs from `first` */
	unsigned width;                 /* number of planes */
	uint8_t *planes[PLANES];        /* n bytes each */
	uint64_t before;                /* while splitting: value that the next difference is relative to */
};

/* Fills the lanes of all fields of r from n rows.  room: PLANE_STRIDE(n) bytes for each byte of a row; holds the planes. */
void lanes_split(struct lane *lanes, const struct record *r, const void *rows, size_t n, uint8_t *room);

#endif
