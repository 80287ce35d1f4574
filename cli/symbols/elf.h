/* An ELF file of another's making, read with suspicion: every offset in it is checked before it is followed.  64-bit, little endian. */
#ifndef SYMBOLS_ELF_H
#define SYMBOLS_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf {
	const uint8_t *map;
	size_t size;
	bool mapped;                    /* by us; else somebody else's memory */
	time_t changed;                 /* of the file; 0: not a file */
	uint64_t sections;              /* offset of their headers, checked; 0: there are none */
	unsigned n_sections;
	uint32_t names;                 /* number of the section with their names */
	int fd;                         /* -1: none */
};

#define ELF_INIT { .fd = -1 }

/* 0, or -1: it cannot be opened, or is none that we read. */
int elf_open(struct elf *e, const char *path);
/* The vdso that the kernel gave to this process.  0 or -1. */
int elf_vdso(struct elf *e);
/* The same for bytes in memory, which must live as long. */
int elf_memory(struct elf *e, const void *bytes, size_t size);
/* Takes anything that the above left. */
void elf_close(struct elf *e);

bool elf_section(const struct elf *e, unsigned i, Elf64_Shdr *out);
/* Finds by name or (name NULL) by type.  Its number, or 0. */
unsigned elf_find(const struct elf *e, const char *name, uint32_t type, Elf64_Shdr *out);
/* The bytes of a section that lie in the file, or NULL. */
const uint8_t *elf_bytes(const struct elf *e, const Elf64_Shdr *s);
/* A zero-terminated text at an offset of a section, or "". */
const char *elf_text(const struct elf *e, const Elf64_Shdr *s, uint64_t at);

/* Its bytes, *n of them; NULL: it has none. */
const uint8_t *elf_build_id(const struct elf *e, size_t *n);

/* Name and checksum of the file with its symbols; NULL: it names none. */
const char *elf_debug_link(const struct elf *e, uint32_t *crc);

#endif
