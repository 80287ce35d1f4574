/* The functions of an ELF file by address, from its symbol table. */
#ifndef SYMBOLS_FUNCTIONS_H
#define SYMBOLS_FUNCTIONS_H

#include "cli/symbols/elf.h"

struct function {
	uint64_t start, end;            /* addresses in the file's headers */
	const char *name;               /* as it stands in the file, which must stay open */
	uint32_t length;                /* of the name, without the version behind an @ */
	uint32_t rank;                  /* of several names for one address, the lowest is told */
};

struct functions {
	struct function *list;          /* by start */
	uint64_t *reach;                /* highest end up to each */
	size_t n;
};

/*
 * .symtab, else .dynsym.  True: .symtab was there, so this is all that there is to know.  Nothing, when there is no
 * memory.
 */
bool functions_read(struct functions *f, const struct elf *e);
/* The same for one more file, in addition. */
bool functions_add(struct functions *f, const struct elf *e);
void functions_release(struct functions *f);

/* The innermost that covers the address, or NULL.  An address behind the end of a function is none of it. */
const struct function *functions_at(const struct functions *f, uint64_t address);

#endif
