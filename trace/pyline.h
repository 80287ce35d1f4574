/*
 * Lines of CPython's code objects: the table that a `code` record carries, as every version from 3.8 on keeps it.  Knows bytes alone,
 * so it works where no Python is.
 */
#ifndef TRACE_PYLINE_H
#define TRACE_PYLINE_H

#include <stddef.h>
#include <stdint.h>

#define PYLINE_NONE    (-1)             /* the instruction belongs to no line */
#define PYLINE_UNKNOWN 0xffffffffu      /* as an offset: not known */

struct pyline {
	uint32_t version;               /* of the interpreter, hex >> 16: 0x030b is 3.11 */
	uint32_t first_line;            /* of the code object */
	const uint8_t *table;           /* co_lnotab up to 3.9, then co_linetable */
	size_t size;
};

/*
 * The line of the instruction at that byte offset.  PYLINE_UNKNOWN as the offset, one beyond a table that was cut, and a table that
 * makes no sense give the first line.
 */
int64_t pyline_of(const struct pyline *code, uint32_t offset);

#endif
