/* Where functions begin and end, by the rules for unwinding: stripped files have those still. */
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

/* Those of .eh_frame; none where there is none, it is not as it should be, or there is no memory. */
void bounds_read(struct bounds *b, const struct elf *e);
void bounds_release(struct bounds *b);

/* The one that covers the address, or NULL. */
const struct bound *bounds_at(const struct bounds *b, uint64_t address);

#endif
