/* .gnu_debugdata: a table of the functions that a stripped file does not export, packed with xz ("MiniDebugInfo"). */
#ifndef SYMBOLS_PACKED_H
#define SYMBOLS_PACKED_H

#include "cli/symbols/elf.h"

/* liblzma.so.5 is there. */
bool packed_usable(void);

/* The file in it, in memory that is the caller's to free; NULL: there is none, or it cannot be unpacked. */
uint8_t *packed_open(const struct elf *module, struct elf *out);

#endif
