/* Reads untrusted ELF files, 64-bit little endian: every offset is checked before use. */
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
	bool mapped;                    /* map was mapped by elf_open(); false: memory of the caller or the kernel */
	time_t changed;                 /* modification time of the file; 0: not a file */
	uint64_t sections;              /* offset of the section headers, checked; 0: none */
	unsigned n_sections;
	uint32_t names;                 /* number of the section with the section names */
	int fd;                         /* -1: none */
};

#define ELF_INIT { .fd = -1 }

/* Opens a file.  0, or -1: it cannot be opened, or is not a 64-bit little-endian ELF file. */
int elf_open(struct elf *e, const char *path);
/* Opens the vdso of this process.  0 or -1. */
int elf_vdso(struct elf *e);
/* Opens an ELF file in memory, which must stay valid until elf_close().  0 or -1. */
int elf_memory(struct elf *e, const void *bytes, size_t size);
/* Closes *e; also after a failed open, and for ELF_INIT. */
void elf_close(struct elf *e);

/* Copies the header of section i to *out; false: no such section. */
bool elf_section(const struct elf *e, unsigned i, Elf64_Shdr *out);
/* Finds a section by name, or by type if name is NULL, and copies its header to *out.  Returns its number, 0: none. */
unsigned elf_find(const struct elf *e, const char *name, uint32_t type, Elf64_Shdr *out);
/* The bytes of a section in the file; NULL: it has none, or lies outside the file. */
const uint8_t *elf_bytes(const struct elf *e, const Elf64_Shdr *s);
/* The zero-terminated text at an offset of a section; "": none. */
const char *elf_text(const struct elf *e, const Elf64_Shdr *s, uint64_t at);

/* The build id, *n bytes; NULL: none. */
const uint8_t *elf_build_id(const struct elf *e, size_t *n);

/* Name and checksum of the separate debug file (.gnu_debuglink); NULL: none. */
const char *elf_debug_link(const struct elf *e, uint32_t *crc);

#endif
