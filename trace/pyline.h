/* Reads line tables of CPython code objects, the tail of `code` rows, in the formats of 3.8 and later.  Needs no Python. */
#ifndef TRACE_PYLINE_H
#define TRACE_PYLINE_H

#include <stddef.h>
#include <stdint.h>

#define PYLINE_NONE    (-1)             /* the instruction belongs to no line */
#define PYLINE_UNKNOWN 0xffffffffu      /* as an offset: not known */

struct pyline {
	uint32_t version;               /* of the interpreter: PY_VERSION_HEX >> 16, 0x030b is 3.11 */
	uint32_t first_line;            /* of the code object */
	const uint8_t *table;           /* co_lnotab up to 3.9, then co_linetable */
	size_t size;
};

/*
 * Source line of the instruction at a byte offset, or PYLINE_NONE.  Returns first_line if offset is PYLINE_UNKNOWN or beyond a cut table,
 * or if the table is invalid.
 */
int64_t pyline_of(const struct pyline *code, uint32_t offset);

#endif
