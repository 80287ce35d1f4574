#include "trace/pyline.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/test.h"

/*
 * What CPython made of this, beginning at line 3:
 *
 *	def f(a):
 *	    x = [i
 *	         for i in a]
 *
 *	    return (x,
 *	            a)
 */
struct known {
	uint32_t version;
	const char *table;      /* in hex */
	struct { uint32_t offset; int64_t line; } at[14];
};

static const struct known knowns[] = {
	{ 0x0308, "0001060102ff0603020102ff",
	  { { 0, 4 }, { 4, 4 }, { 6, 5 }, { 7, 5 }, { 8, 4 }, { 14, 7 }, { 16, 8 }, { 18, 7 }, { 20, 7 } } },
	{ 0x030a, "0601020106ff0203020104ff",
	  { { 0, 4 }, { 4, 4 }, { 6, 5 }, { 8, 4 }, { 13, 4 }, { 14, 7 }, { 16, 8 }, { 18, 7 }, { 20, 7 }, { 22, 3 } } },
	{ 0x030d, "8000e11213f303010915d912138851f303000a0bd91213f003000506f000010915f006000d0ed80c0df003010c0ff00001050ff9f207010915",
	  { { 0, 3 }, { 2, 5 }, { 6, 4 }, { 14, 5 }, { 20, 4 }, { 28, 5 }, { 32, 4 }, { 36, 7 }, { 38, 8 }, { 40, 7 },
	    { 44, PYLINE_NONE }, { 46, PYLINE_NONE }, { 48, 4 }, { 54, 3 } } },
};

static size_t from_hex(uint8_t *out, const char *hex)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

TEST(lines_are_those_of_each_version)
{
	uint8_t table[256];

	for (size_t i = 0; i < sizeof knowns / sizeof *knowns; i++) {
		const struct known *k = &knowns[i];
		struct pyline c = { .version = k->version, .first_line = 3, .table = table, .size = from_hex(table, k->table) };

		for (size_t j = 0; j < 14 && k->at[j].line; j++)
			if (!CHECK_EQ(pyline_of(&c, k->at[j].offset), k->at[j].line))
				printf("  version %x, offset %u\n", k->version, k->at[j].offset);
	}
}

TEST(an_offset_that_is_not_known_is_the_first_line)
{
	static const uint32_t versions[] = { 0x0308, 0x030a, 0x030b, 0x030f };
	static const uint8_t table[] = { 0x80, 0x00, 0xe1 };

	for (size_t i = 0; i < 4; i++) {
		struct pyline c = { versions[i], 17, table, sizeof table };

		CHECK_EQ(pyline_of(&c, PYLINE_UNKNOWN), 17);
		c.size = 0;
		CHECK_EQ(pyline_of(&c, 10), 17);
	}
}

/* The first line may be anything, too: it comes from the same memory. */
TEST(tables_of_nonsense_end)
{
	static const uint32_t versions[] = { 0x0308, 0x030a, 0x030b };
	uint8_t table[64];
	uint32_t x = 1;
	int64_t sum = 0;

	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof table; i++)
			table[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
		for (size_t v = 0; v < 3; v++) {
			struct pyline c = { versions[v], x, table, x >> 8 & 63 };

			sum |= pyline_of(&c, x >> 16 & 255);
		}
	}
	CHECK(sum != 0);
}
