/*
 * libFuzzer target: the input is an ELF file with DWARF lines and inlined functions.  libdw parses it; tested is that cli/symbols/dwarf.c
 * terminates and returns valid places and texts.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/symbols/dwarf.h"
#include "cli/symbols/elf.h"
#include "cli/symbols/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* The leak checker, which is linked statically, reports memory of libdw, which is loaded at run time. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static size_t read_texts;               /* total length: reads each text to its end */

static void ask(struct dwarf *d, uint64_t address)
{
	struct dwarf_place found[MOST_PLACES];
	size_t n = dwarf_at(d, address, found, MOST_PLACES);

	if (n > MOST_PLACES)
		abort();
	for (size_t i = 0; i < n; i++) {
		read_texts += found[i].function ? strlen(found[i].function) : 0;
		read_texts += found[i].file ? strlen(found[i].file) : 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct dwarf *d;
	struct elf e;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_memory(&e, data, size) == 0 && (d = dwarf_open(fd, 0))) {
		for (uint64_t address = 0x1000; address < 0x1400; address += 4)
			ask(d, address);
		ask(d, 0);
		ask(d, UINT64_MAX);
		dwarf_close(d);
	}
	close(fd);
	return read_texts == SIZE_MAX;
}
