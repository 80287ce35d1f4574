/* Finds the file of a module, and the separate file with its symbols. */
#ifndef SYMBOLS_FIND_H
#define SYMBOLS_FIND_H

#include "cli/symbols/elf.h"

/* The searched module. */
struct wanted {
	const char *symfs;              /* folder used as / in all paths; "": none */
	bool trusted;                   /* accept a file without build id by its path */
	const char *path;
	const uint8_t *id;
	size_t n_id;                    /* 0: no build id */
	time_t when;                    /* when the module was mapped; 0: not known */
};

/* Opens the module's file.  0, or -1: not found, or another file with this path. */
int find_module(const struct wanted *w, struct elf *out);

/* Opens the separate file with the module's symbols; module may be closed.  0 or -1. */
int find_symbols(const struct wanted *w, const struct elf *module, struct elf *out);

#endif
