/*
 * Lines and inlined functions from DWARF, read with libdw (libdw.so.1 of elfutils) if it is installed; opened on first use.  libdw only
 * reads files that the caller has found; its own search, which may use the network, is off.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;

/* A function at an address. */
struct dwarf_place {
	const char *function;           /* as in the file, possibly mangled; NULL: no name */
	const char *file;               /* NULL: not known */
	uint32_t line;                  /* 0: not known */
};

/* Whether libdw was found. */
bool dwarf_usable(void);

/*
 * Reads the DWARF of an open file, which must stay open.  deadline: MONOTONIC ns at which reading stops, keeping what was read; 0: none.
 * NULL: no DWARF, or it cannot be read.
 */
struct dwarf *dwarf_open(int fd, int64_t deadline);
void dwarf_close(struct dwarf *d);

/*
 * Writes the functions at an address (as in the file's headers) to out, innermost inlined function first, and returns their number, 0:
 * unknown.  At most `max`; beyond that the outermost ones are missing.  The last may have a line but no name, for code outside of all
 * functions.  Texts live as long as d.
 */
size_t dwarf_at(struct dwarf *d, uint64_t address, struct dwarf_place *out, size_t max);

#endif
