/* Malformed ELF files: readers must not crash or read outside the file. */
#include "cli/symbols/elf.h"

#include "cli/symbols/demangle.h"
#include "cli/symbols/functions.h"
#include "cli/symbols/symbols.h"
#include "test/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A small file of its own making: one section of code with functions, their names, a build id and a debug link. */
struct small {
	Elf64_Ehdr head;
	Elf64_Shdr sections[7];
	Elf64_Sym symbols[6];
	char names[64], section_names[64];
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[8];
	} note;
	char link[12];
	uint32_t crc;
};

static struct small make_small(void)
{
	static const char names[] = "\0outer\0inner\0label\0ver@@V1\0__dup\0dup";
	static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0.note.id\0.gnu_debuglink";
	struct small s = { .head = { .e_ident = ELFMAG, .e_shoff = offsetof(struct small, sections),
				     .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 7, .e_shstrndx = 4 } };

	s.head.e_ident[EI_CLASS] = ELFCLASS64;
	s.head.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(s.names, names, sizeof names);
	memcpy(s.section_names, section_names, sizeof section_names);
	s.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				      .sh_addr = 0x1000, .sh_size = 0x1000 };
	s.sections[2] = (Elf64_Shdr){ .sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct small, symbols),
				      .sh_size = sizeof s.symbols, .sh_link = 3 };
	s.sections[3] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small, names),
				      .sh_size = sizeof s.names };
	s.sections[4] = (Elf64_Shdr){ .sh_name = 23, .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct small, section_names),
				      .sh_size = sizeof s.section_names };
	s.sections[5] = (Elf64_Shdr){ .sh_name = 33, .sh_type = SHT_NOTE, .sh_offset = offsetof(struct small, note),
				      .sh_size = sizeof s.note };
	s.sections[6] = (Elf64_Shdr){ .sh_name = 42, .sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct small, link),
				      .sh_size = sizeof s.link + sizeof s.crc };
	s.symbols[0] = (Elf64_Sym){ .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
				    .st_value = 0x1100, .st_size = 0x100 };
	s.symbols[1] = (Elf64_Sym){ .st_name = 7, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = 1,
				    .st_value = 0x1140, .st_size = 0x10 };
	s.symbols[2] = (Elf64_Sym){ .st_name = 13, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), .st_shndx = 1,
				    .st_value = 0x1180 };
	s.symbols[3] = (Elf64_Sym){ .st_name = 19, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
				    .st_value = 0x1300 };
	s.symbols[4] = (Elf64_Sym){ .st_name = 27, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
				    .st_value = 0x1400, .st_size = 0x20 };
	s.symbols[5] = (Elf64_Sym){ .st_name = 33, .st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC), .st_shndx = 1,
				    .st_value = 0x1400, .st_size = 0x20 };
	s.note.head = (Elf64_Nhdr){ 4, 8, NT_GNU_BUILD_ID };
	memcpy(s.note.name, "GNU", 4);
	memcpy(s.note.id, "\1\2\3\4\5\6\7\10", 8);
	memcpy(s.link, "a.so.debug", 11);
	s.crc = 0x12345678;
	return s;
}

static const char *name_at(const struct functions *f, uint64_t address)
{
	static char text[64];
	const struct elf_function *at = functions_at(f, address);

	snprintf(text, sizeof text, "%.*s", at ? (int)at->length : 1, at ? at->name : "-");
	return text;
}

TEST(an_address_is_in_the_innermost_function_that_covers_it_and_else_in_none)
{
	const struct small s = make_small();
	struct functions f;
	struct elf e;

	CHECK_EQ(elf_memory(&e, &s, sizeof s), 0);
	CHECK(functions_read(&f, &e));
	CHECK_STR(name_at(&f, 0x10ff), "-");
	CHECK_STR(name_at(&f, 0x1100), "outer");
	CHECK_STR(name_at(&f, 0x1140), "inner");
	CHECK_STR(name_at(&f, 0x114f), "inner");
	CHECK_STR(name_at(&f, 0x1150), "outer");
	CHECK_STR(name_at(&f, 0x1180), "outer");        /* a label in it is no function */
	CHECK_STR(name_at(&f, 0x11ff), "outer");
	CHECK_STR(name_at(&f, 0x1300), "ver");          /* no size: up to the next */
	CHECK_STR(name_at(&f, 0x13ff), "ver");
	CHECK_STR(name_at(&f, 0x1400), "dup");          /* the name that people use */
	CHECK_STR(name_at(&f, 0x1420), "-");
	CHECK_STR(name_at(&f, UINT64_MAX), "-");
	functions_release(&f);
	elf_close(&e);
}

TEST(build_id_and_debug_link_are_read)
{
	const struct small s = make_small();
	const uint8_t *id;
	struct elf e;
	uint32_t crc;
	size_t n;

	CHECK_EQ(elf_memory(&e, &s, sizeof s), 0);
	id = elf_build_id(&e, &n);
	CHECK(id && n == 8 && id[7] == 8);
	CHECK_STR(elf_debug_link(&e, &crc), "a.so.debug");
	CHECK_EQ(crc, 0x12345678);
}

/* Everything that is asked of a file. */
static void ask(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);       /* of its own, so that a sanitizer sees what is read behind it */
	struct functions f;
	struct elf e;
	uint32_t crc;
	size_t n;

	memcpy(copy, bytes, size);
	if (elf_memory(&e, copy, size) == 0) {
		functions_read(&f, &e);
		for (uint64_t a = 0x1000; a < 0x1500; a += 0x10)
			functions_at(&f, a);
		for (size_t i = 0; i < f.n; i++)
			CHECK(strnlen(f.list[i].name, size) >= f.list[i].length);
		functions_release(&f);
		elf_build_id(&e, &n);
		elf_debug_link(&e, &crc);
	}
	free(copy);
}

static uint32_t random_state = 12345;

static uint32_t next_random(void)
{
	return random_state = random_state * 1664525u + 1013904223u;
}

TEST(cut_off_and_garbled_files_are_read_without_harm)
{
	const struct small good = make_small();
	uint8_t bytes[sizeof good];

	for (size_t n = 0; n < sizeof good; n++)
		ask((const uint8_t *)&good, n);
	for (int round = 0; round < 20000; round++) {
		memcpy(bytes, &good, sizeof good);
		for (unsigned k = next_random() >> 29; k < 8; k++) {
			size_t at = (next_random() >> 8) % sizeof good;

			bytes[at] = next_random() & 0x100000 ? (uint8_t)(next_random() >> 24)
							     : (next_random() & 0x10000 ? 0xff : 0);
		}
		ask(bytes, sizeof good);
	}
}

/* The runner's own file, damaged, as a file: what DWARF says is read from it too. */
TEST(damaged_programs_are_looked_into_without_harm)
{
	char path[] = "/tmp/gprof-unit-elf-XXXXXX";
	struct spot places[MOST_PLACES];
	struct stat st;
	int in = open("/proc/self/exe", O_RDONLY), out = mkstemp(path);
	uint8_t *bytes;

	CHECK(in >= 0 && out >= 0 && fstat(in, &st) == 0);
	bytes = malloc((size_t)st.st_size);
	CHECK(bytes && read(in, bytes, (size_t)st.st_size) == st.st_size);
	for (int round = 0; round < 60; round++) {
		size_t size = round % 4 ? (size_t)st.st_size : next_random() % (size_t)st.st_size;
		struct symbols *s = symbols_new(NULL, true);
		struct symbol_file *o = symbols_object(s, path, NULL, 0, 0);

		CHECK(pwrite(out, bytes, size, 0) == (ssize_t)size && ftruncate(out, (off_t)size) == 0);
		for (int k = 0; k < 200 && size > 4096; k++) {
			uint8_t noise = (uint8_t)(next_random() >> 24);

			/* Behind the head, which would only be refused. */
			CHECK_EQ(pwrite(out, &noise, 1, (off_t)(64 + (next_random() >> 2) % (size - 64))), 1);
		}
		for (uint64_t a = 0; a < (uint64_t)st.st_size; a += (uint64_t)st.st_size / 97)
			CHECK(object_at(o, a, true, places) <= MOST_PLACES);
		symbols_free(s);
	}
	free(bytes);
	close(in);
	close(out);
	unlink(path);
}

static void check_name(const char *mangled, const char *want)
{
	char *shown = demangle(mangled);

	CHECK_STR(shown ? shown : "(none)", want);
	free(shown);
}

TEST(names_of_rust_are_read_in_both_schemes)
{
	check_name("_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE",
		   "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
	check_name("_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE.llvm.123",
		   "<&T as core::fmt::Debug>::fmt");
	check_name("_RNvC6_123foo3bar", "123foo::bar");
	check_name("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}");
	check_name("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
	check_name("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate", "<std::path::PathBuf>::new");
	check_name("_RINvC1c1fAtj8_RShFUKCmEuE", "c::f::<[u16; 8], &[u8], unsafe extern \"C\" fn(u32)>");
	check_name("_RNvC1c", "(none)");
	check_name("_RNvB_1a", "(none)");
	check_name("_R", "(none)");
	check_name("main", "(none)");
}

TEST(names_of_cpp_are_read_where_libstdcpp_is)
{
	if (!demangle_knows_cpp()) {
		test_skip("needs libstdc++.so.6");
		return;
	}
	check_name("_ZN2ns4gemmIfLi4EEEvPT_", "void ns::gemm<float, 4>(float*)");
	check_name("_Zgarbage", "(none)");
}

TEST(garbled_names_are_read_without_harm)
{
	static const char good[] = "_RINvNtNtCs6DXkGYLi8lr_4core3ops8function6FnOnceINtB2_3VecDNtB3_5TraitG_p4ItemReEL_KjAb1_NtE";
	char name[sizeof good], out[4096];

	for (int round = 0; round < 50000; round++) {
		memcpy(name, good, sizeof good);
		for (unsigned k = 0; k < 3; k++)
			name[2 + (next_random() >> 8) % (sizeof good - 3)] = good[2 + (next_random() >> 8) % (sizeof good - 3)];
		demangle_rust(name, out, round % 2 ? sizeof out : 16);
	}
	CHECK(!demangle_rust("_RB_", out, sizeof out));
}

static void put_reference(char *to, unsigned i)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	i ? sprintf(to, "S%c_", digits[i - 1]) : sprintf(to, "S_");
}

TEST(a_name_that_says_itself_twice_again_and_again_stays_as_it_is)
{
	char name[400] = "_Z1f1AIiE", want[400] = "f(", reference[8], *shown;

	if (!demangle_knows_cpp()) {
		test_skip("libstdc++ is not here");
		return;
	}
	for (unsigned i = 0; i < 15; i++) {     /* 15 levels are 800 kB, 30 are 25 GB */
		put_reference(reference, 2 * i + 1);
		sprintf(name + strlen(name), "1BI%s%sE", reference, reference);
	}
	CHECK(demangle(name) == NULL);
	/* Many references to little are long only to a look from outside. */
	strcpy(name, "_Z1f");
	for (unsigned i = 0; i < 12; i++) {
		sprintf(name + strlen(name), "1%c", 'A' + i);
		sprintf(want + strlen(want), "%c, ", 'A' + i);
	}
	for (unsigned i = 0; i < 36; i++) {
		put_reference(reference, i / 3);
		strcat(name, reference);
		sprintf(want + strlen(want), "%c%s", 'A' + i / 3, i < 35 ? ", " : ")");
	}
	shown = demangle(name);
	CHECK_STR(shown, want);
	free(shown);
}
