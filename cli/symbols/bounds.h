/* Begins and ends of functions from the unwind tables (.eh_frame), which stripped files still have. */
#ifndef SYMBOLS_BOUNDS_H
#define SYMBOLS_BOUNDS_H

#include "cli/symbols/elf.h"

struct bound {
	uint64_t start, end;            /* addresses in the file's headers */
};

struct bounds {
	struct bound *list;             /* by start */
	size_t n;
};

/* Fills *b from .eh_frame; empty if there is none, or out of memory.  Reads up to the first damaged entry. */
void bounds_read(struct bounds *b, const struct elf *e);
void bounds_release(struct bounds *b);

/* The function that contains the address, or NULL. */
const struct bound *bounds_at(const struct bounds *b, uint64_t address);

#endif
