/* Files without a symbol table: bounds of functions from unwind tables, and names from .gnu_debugdata. */
#include "cli/symbols/bounds.h"
#include "cli/symbols/functions.h"
#include "cli/symbols/packed.h"
#include "test/unit/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two common entries and three functions at 0x1000, as compilers write them: relative to the place, and plain. */
static const uint8_t frames[] = {
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xe0, 0xff, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,          /* 0x11000, 0x40 */
	0x14, 0, 0, 0, 0x34, 0, 0, 0, 0x08, 0, 1, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              /* 0x11040, 0x10 */
	0x0c, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0,
	0x18, 0, 0, 0, 0x14, 0, 0, 0, 0x00, 0x50, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,        /* 0x5000, 0x80 */
	0, 0, 0, 0,
};

struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[64];
	uint8_t bytes[1024];
};

/* A file with one section of these bytes, at address 0x1000. */
static struct file file_with(const char *name, const void *bytes, size_t n)
{
	struct file f = { .head = { .e_ident = ELFMAG, .e_shoff = offsetof(struct file, sections), .e_shnum = 3,
				    .e_shentsize = sizeof(Elf64_Shdr), .e_shstrndx = 2 } };

	f.head.e_ident[EI_CLASS] = ELFCLASS64;
	f.head.e_ident[EI_DATA] = ELFDATA2LSB;
	f.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = 0x1000, .sh_size = n,
				      .sh_offset = offsetof(struct file, bytes) };
	f.sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names), .sh_size = sizeof f.names };
	snprintf(f.names + 1, sizeof f.names - 1, "%s", name);
	memcpy(f.bytes, bytes, n < sizeof f.bytes ? n : sizeof f.bytes);
	return f;
}

static uint64_t start_at(const struct bounds *b, uint64_t address)
{
	const struct bound *at = bounds_at(b, address);

	return at ? at->start : 0;
}

TEST(functions_without_names_have_the_bounds_of_their_rules)
{
	const struct file f = file_with(".eh_frame", frames, sizeof frames);
	struct bounds b;
	struct elf e;

	CHECK_EQ(elf_memory(&e, &f, sizeof f), 0);
	bounds_read(&b, &e);
	CHECK_EQ(b.n, 3);
	CHECK_EQ(start_at(&b, 0x4fff), 0);
	CHECK_EQ(start_at(&b, 0x5000), 0x5000);
	CHECK_EQ(start_at(&b, 0x507f), 0x5000);
	CHECK_EQ(start_at(&b, 0x5080), 0);
	CHECK_EQ(start_at(&b, 0x11000), 0x11000);
	CHECK_EQ(start_at(&b, 0x1103f), 0x11000);
	CHECK_EQ(start_at(&b, 0x11040), 0x11040);
	CHECK_EQ(start_at(&b, 0x1104f), 0x11040);
	CHECK_EQ(start_at(&b, 0x11050), 0);
	CHECK_EQ(start_at(&b, UINT64_MAX), 0);
	bounds_release(&b);
}

TEST(rules_that_end_anywhere_or_say_anything_are_not_believed)
{
	uint32_t seed = 1;

	for (size_t n = 0; n <= sizeof frames; n++) {
		uint8_t *f = malloc(offsetof(struct file, bytes) + n);          /* what is read behind its end is noticed */
		const struct file whole = file_with(".eh_frame", frames, n);
		struct bounds b;
		struct elf e;

		memcpy(f, &whole, offsetof(struct file, bytes) + n);
		CHECK_EQ(elf_memory(&e, f, offsetof(struct file, bytes) + n), 0);
		bounds_read(&b, &e);
		CHECK(b.n <= 3);
		bounds_release(&b);
		for (unsigned i = 0; n && i < 200; i++) {
			seed = seed * 1103515245 + 12345;
			f[offsetof(struct file, bytes) + (seed >> 8) % n] = (uint8_t)(seed >> 24);
			bounds_read(&b, &e);
			for (size_t k = 0; k < b.n; k++)
				CHECK(b.list[k].start < b.list[k].end);
			bounds_release(&b);
		}
		free(f);
	}
}

/* ---- packed ---- */

struct names {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
	Elf64_Sym symbol;
	char texts[16];
};

static struct names make_names(void)
{
	struct names s = { .head = { .e_ident = ELFMAG, .e_shoff = offsetof(struct names, sections), .e_shnum = 4,
				     .e_shentsize = sizeof(Elf64_Shdr) } };

	s.head.e_ident[EI_CLASS] = ELFCLASS64;
	s.head.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(s.texts, "\0hidden", 8);
	s.sections[1] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = 0x1000,
				      .sh_size = 0x1000 };
	s.sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct names, symbol),
				      .sh_size = sizeof s.symbol, .sh_link = 3 };
	s.sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct names, texts), .sh_size = sizeof s.texts };
	s.symbol = (Elf64_Sym){ .st_name = 1, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = 1, .st_value = 0x1100,
				.st_size = 0x20 };
	return s;
}

typedef int encode_fn(uint32_t preset, int check, const void *allocator, const uint8_t *in, size_t size, uint8_t *out, size_t *at,
		      size_t room);

/* The names, packed as xz does it; false: this machine has no liblzma. */
static bool pack(uint8_t *out, size_t room, size_t *n)
{
	const struct names names = make_names();
	void *lib = dlopen("liblzma.so.5", RTLD_NOW), *fn = lib ? dlsym(lib, "lzma_easy_buffer_encode") : NULL;
	encode_fn *encode;

	memcpy(&encode, &fn, sizeof fn);
	*n = 0;
	return encode && encode(6, 1, NULL, (const uint8_t *)&names, sizeof names, out, n, room) == 0;
}

TEST(names_that_are_packed_away_are_found)
{
	const struct elf_function *at;
	struct functions f = { 0 };
	uint8_t bytes[1024], *unpacked;
	struct elf e, inner;
	struct file file;
	size_t n;

	if (!pack(bytes, sizeof bytes, &n)) {
		CHECK(!packed_usable());
		return;
	}
	file = file_with(".gnu_debugdata", bytes, n);
	CHECK_EQ(elf_memory(&e, &file, sizeof file), 0);
	unpacked = packed_open(&e, &inner);
	CHECK(unpacked != NULL);
	CHECK(functions_add(&f, &inner));
	at = functions_at(&f, 0x111f);
	CHECK(at && strcmp(at->name, "hidden") == 0);
	CHECK(functions_at(&f, 0x1120) == NULL);
	functions_release(&f);
	free(unpacked);
}

TEST(packed_names_that_are_cut_or_changed_are_left_alone)
{
	uint8_t bytes[1024];
	uint32_t seed = 7;
	size_t n;

	if (!pack(bytes, sizeof bytes, &n))
		return;
	for (size_t i = 0; i < 2 * n; i++) {
		struct file file = file_with(".gnu_debugdata", bytes, i < n ? i : n);
		uint8_t *unpacked;
		struct elf e, inner;

		seed = seed * 1103515245 + 12345;
		if (i >= n)
			file.bytes[i - n] ^= (uint8_t)(1 + (seed >> 16) % 255);
		CHECK_EQ(elf_memory(&e, &file, sizeof file), 0);
		unpacked = packed_open(&e, &inner);
		CHECK(i >= n || !unpacked);
		free(unpacked);
	}
}
