/*
 * Lines and inlined functions from DWARF, read by libdw where that is installed (libdw.so.1 of elfutils, opened when
 * first needed).  It is asked about files that we found: its own search, which may go to the network, is not used.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;

/* A function at an address. */
struct dwarf_place {
	const char *function;           /* as in the file: perhaps mangled; NULL: it has no name */
	const char *file;               /* NULL: not known */
	uint32_t line;                  /* 0: not known */
};

/* libdw is here. */
bool dwarf_usable(void);

/*
 * The DWARF of an open file, which must stay open.  NULL: it has none, or is not to be read.  deadline: MONOTONIC ns
 * when to stop reading it, 0: never; then what was read is there.
 */
struct dwarf *dwarf_open(int fd, int64_t deadline);
void dwarf_close(struct dwarf *d);

/*
 * The functions at an address of the file's headers, the innermost inlined one first.  At most `max`; beyond that the
 * outermost are missing.  The last may have a line but no name: there is code that is in no function.  0: nothing
 * known.  Texts live as long as the dwarf.
 */
size_t dwarf_at(struct dwarf *d, uint64_t address, struct dwarf_place *out, size_t max);

#endif
