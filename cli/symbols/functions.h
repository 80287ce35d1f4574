/* The functions of an ELF file by address, from its symbol table. */
#ifndef SYMBOLS_FUNCTIONS_H
#define SYMBOLS_FUNCTIONS_H

#include "cli/symbols/elf.h"

struct elf_function {
	uint64_t start, end;            /* addresses in the file's headers */
	const char *name;               /* points into the file, which must stay open */
	uint32_t length;                /* of the name, without @ and a version */
	uint32_t rank;                  /* of several names for one address, the lowest rank is used */
};

struct functions {
	struct elf_function *list;      /* by start */
	uint64_t *reach;                /* highest end of list[0..i] */
	size_t n, cap;
};

/* Reads .symtab, else .dynsym.  True: .symtab was read, so all functions are known.  Empty if out of memory. */
bool functions_read(struct functions *f, const struct elf *e);
/* As functions_read(), but adds to *f. */
bool functions_add(struct functions *f, const struct elf *e);
void functions_release(struct functions *f);

/* The innermost function with start <= address < end, or NULL. */
const struct elf_function *functions_at(const struct functions *f, uint64_t address);

#endif
