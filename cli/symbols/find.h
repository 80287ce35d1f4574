/* Where the file of a module, and the one with its symbols, may be. */
#ifndef SYMBOLS_FIND_H
#define SYMBOLS_FIND_H

#include "cli/symbols/elf.h"

struct wanted {
	const char *symfs;              /* stands for /; "": nothing does */
	bool trusted;                   /* a file may be believed by its path */
	const char *path;
	const uint8_t *id;
	size_t n_id;                    /* 0: no build id */
	time_t when;                    /* it was mapped; 0: not known */
};

/* The module itself.  0, or -1: not here, or another one of that name. */
int find_module(const struct wanted *w, struct elf *out);

/* Its symbols in a file of their own; module may be closed.  0 or -1. */
int find_symbols(const struct wanted *w, const struct elf *module, struct elf *out);

#endif
