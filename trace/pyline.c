#include "trace/pyline.h"

#include <stdbool.h>

#define UNIT 2          /* bytes of a code unit, since 3.6 */

/* 3.8, 3.9: pairs of an unsigned step in bytes and a signed step in lines; a pair with 0 bytes only adds lines. */
static int64_t from_lnotab(const struct pyline *c, uint32_t offset)
{
	int64_t line = (int32_t)c->first_line;
	uint64_t at = 0;

	for (size_t i = 0; i + 1 < c->size; i += 2) {
		at += c->table[i];
		if (at > offset)
			break;
		line += (int8_t)c->table[i + 1];
	}
	return line;
}

/* 3.10: pairs of a range's length in bytes and its step in lines; -128: the range has no line. */
static int64_t from_ranges(const struct pyline *c, uint32_t offset)
{
	int64_t line = (int32_t)c->first_line;
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < c->size; i += 2) {
		int8_t step = (int8_t)c->table[i + 1];

		end += c->table[i];
		if (step != -128)
			line += step;
		if (offset < end)
			return step == -128 ? PYLINE_NONE : line;
	}
	return (int32_t)c->first_line;
}

/* Reads a signed number: six bits a byte, lowest first; bit 6: more bytes follow; bit 0 of the number is its sign.  False: table ends. */
static bool read_signed(const struct pyline *c, size_t *place, int64_t *value)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		if (*place >= c->size || shift > 30)
			return false;
		byte = c->table[(*place)++];
		v |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	*value = v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
	return true;
}

/* 3.11 and later: each entry begins with a byte 1|kind:4|units-1:3; its other bytes have bit 7 clear. */
enum entry_kind { ENTRY_ONE_LINE_0 = 10, ENTRY_ONE_LINE_2 = 12, ENTRY_NO_COLUMNS = 13, ENTRY_LONG = 14, ENTRY_NONE = 15 };

static int64_t from_locations(const struct pyline *c, uint32_t offset)
{
	int64_t line = (int32_t)c->first_line;
	uint64_t end = 0;

	for (size_t i = 0; i < c->size;) {
		uint8_t head = c->table[i++];
		unsigned kind = head >> 3 & 15;
		int64_t step = 0;

		if (!(head & 0x80))
			break;
		end += ((head & 7) + 1u) * UNIT;
		if (kind >= ENTRY_ONE_LINE_0 && kind <= ENTRY_ONE_LINE_2)
			step = kind - ENTRY_ONE_LINE_0;
		else if ((kind == ENTRY_NO_COLUMNS || kind == ENTRY_LONG) && !read_signed(c, &i, &step))
			break;
		line += step;
		if (offset < end)
			return kind == ENTRY_NONE ? PYLINE_NONE : line;
		while (i < c->size && !(c->table[i] & 0x80))
			i++;
	}
	return (int32_t)c->first_line;
}

int64_t pyline_of(const struct pyline *code, uint32_t offset)
{
	if (offset == PYLINE_UNKNOWN || !code->size)
		return (int32_t)code->first_line;
	if (code->version < 0x030a)
		return from_lnotab(code, offset);
	if (code->version == 0x030a)
		return from_ranges(code, offset);
	return from_locations(code, offset);
}
