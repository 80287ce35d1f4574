/* .gnu_debugdata ("MiniDebugInfo"): an xz-compressed ELF file with the symbols that a stripped file does not export. */
#ifndef SYMBOLS_PACKED_H
#define SYMBOLS_PACKED_H

#include "cli/symbols/elf.h"

/* Whether liblzma.so.5 was found. */
bool packed_usable(void);

/* Decompresses and opens the ELF file in *out.  Returns its memory, to be freed after elf_close(); NULL: none, or not readable. */
uint8_t *packed_open(const struct elf *module, struct elf *out);

#endif
