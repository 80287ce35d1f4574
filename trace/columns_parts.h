/* Between columns.c and columns_split.c: a column on its way from the rows to its planes. */
#ifndef TRACE_COLUMNS_PARTS_H
#define TRACE_COLUMNS_PARTS_H

#include "trace/columns.h"

#define PLANES 8                        /* bytes of the widest field */

/* Bytes from one plane to the next: they are written 16 at a time, and not all to the same part of a cache. */
#define PLANE_STRIDE(n) (((n) + 63) / 64 * 64 + 1088)

struct lane {
	const struct field *field;
	enum encoding encoding;
	ptrdiff_t lengths;              /* from the field to `duration`, for ENCODING_GAP */
	uint64_t first;                 /* value of the first row */
	uint64_t x;                     /* its number */
	uint64_t bits;                  /* in which any number differs from it */
	bool differs;                   /* some value is not `first` */
	unsigned width;                 /* planes */
	uint8_t *planes[PLANES];        /* n bytes of each */
	uint64_t before;                /* while splitting: what the next difference is to */
};

/*
 * Fills the lanes of all fields of r from n rows.  room: PLANE_STRIDE(n) for each byte of a row, of which it touches
 * what the planes need.
 */
void lanes_split(struct lane *lanes, const struct record *r, const void *rows, size_t n, uint8_t *room);

#endif
