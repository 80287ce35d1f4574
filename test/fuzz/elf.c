/*
 * libFuzzer target: the input is an ELF file.  Reads its build id, debug link, functions, bounds of unnamed functions, and the packed
 * symbol table of a stripped file (.gnu_debugdata).
 */
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/bounds.h"
#include "cli/symbols/functions.h"
#include "cli/symbols/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sum;           /* of all returned bytes: reads each */

static void touch(const void *p, size_t n)
{
	for (size_t i = 0; p && i < n; i++)
		sum += ((const uint8_t *)p)[i];
}

static void ask_functions(const struct elf *e)
{
	struct functions f;

	functions_read(&f, e);
	for (size_t i = 0; i < f.n; i++) {
		const struct elf_function *at = functions_at(&f, f.list[i].start);

		touch(f.list[i].name, f.list[i].length);
		if (f.list[i].start >= f.list[i].end || (i && f.list[i].start <= f.list[i - 1].start) ||
		    (at && (f.list[i].start < at->start || f.list[i].start >= at->end)))
			abort();
	}
	functions_release(&f);
}

static void ask_bounds(const struct elf *e)
{
	struct bounds b;

	bounds_read(&b, e);
	for (size_t i = 0; i < b.n; i++) {
		const struct bound *at = bounds_at(&b, b.list[i].start);

		if (at && (b.list[i].start < at->start || b.list[i].start >= at->end))
			abort();
	}
	bounds_release(&b);
}

static void read_file(const struct elf *e)
{
	uint32_t crc;
	size_t n = 0;
	const uint8_t *id = elf_build_id(e, &n);
	const char *link = elf_debug_link(e, &crc);

	touch(id, id ? n : 0);
	touch(link, link ? strlen(link) + 1 : 0);
	ask_functions(e);
	ask_bounds(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf e, inner;
	uint8_t *unpacked;

	if (elf_memory(&e, data, size) < 0)
		return 0;
	read_file(&e);
	unpacked = packed_open(&e, &inner);
	if (unpacked)
		read_file(&inner);
	free(unpacked);
	return 0;
}
