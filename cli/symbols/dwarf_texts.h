/*
 * libdw returns pointers into the sections of strings, and does not check that a string ends inside its section.  A file of an attacker
 * would make us read beyond it.
 */
#ifndef CLI_SYMBOLS_DWARF_TEXTS_H
#define CLI_SYMBOLS_DWARF_TEXTS_H

#include <stdbool.h>

/* Looks for the needed functions of libdw and libelf.  lib: libdw's handle.  False: a function is missing. */
bool dwarf_texts_find(void *lib);

/*
 * dw: a Dwarf * of libdw.  True if each section of strings of its file, and of the file of common strings that it names (made by dwz),
 * ends with a zero byte, so that every string in it does.
 */
bool dwarf_texts_end(void *dw);

/* As dwarf_texts_end(), for the file that a unit's Dwarf_CU * belongs to: a .dwo file has strings of its own. */
bool dwarf_texts_end_of_unit(void *cu);

#endif
