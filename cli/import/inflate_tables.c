#include "cli/import/inflate_tables.h"

static const uint16_t length_base[29] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83,
					  99, 115, 131, 163, 195, 227, 258 };
static const uint8_t length_extra[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5,
					  5, 0 };
static const uint16_t dist_base[30] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769,
					1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
static const uint8_t dist_extra[30] = { 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11,
					12, 12, 13, 13 };

static unsigned reversed(unsigned code, unsigned n)
{
	unsigned r = 0;

	for (unsigned i = 0; i < n; i++)
		r |= (code >> i & 1) << (n - 1 - i);
	return r;
}

static uint32_t length_entry(unsigned symbol)
{
	if (symbol < 256)
		return symbol << 16 | LITERAL;
	if (symbol == 256)
		return SPECIAL;
	return symbol - 257 < 29 ? (uint32_t)length_base[symbol - 257] << 16 | length_extra[symbol - 257] : NO_CODE;
}

static uint32_t dist_entry(unsigned symbol)
{
	return symbol < 30 ? (uint32_t)dist_base[symbol] << 16 | dist_extra[symbol] : NO_CODE;
}

static uint32_t entry_of(enum inflate_symbols symbols, unsigned symbol)
{
	switch (symbols) {
	case SYMBOL_LENGTHS:   return length_entry(symbol);
	case SYMBOL_DISTANCES: return dist_entry(symbol);
	case SYMBOL_NUMBERS:   break;
	}
	return symbol << 16;
}

static void fill_up(uint32_t *table, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		table[i] = NO_CODE;
}

bool inflate_table(uint32_t *table, unsigned bits, const uint8_t *lengths, unsigned n, enum inflate_symbols symbols)
{
	unsigned count[LONGEST + 1] = { 0 }, next[LONGEST + 2], used = 1u << bits, code = 0, left = 1;

	for (unsigned i = 0; i < n; i++)
		count[lengths[i]]++;
	count[0] = 0;
	for (unsigned l = 1; l <= LONGEST; l++) {
		next[l] = code = (code + count[l - 1]) << 1;
		left = left << 1;
		if (count[l] > left)
			return false;
		left -= count[l];
	}
	fill_up(table, used);
	for (unsigned i = 0; i < n; i++) {
		unsigned l = lengths[i], r;
		uint32_t e = entry_of(symbols, i);

		if (!l)
			continue;
		r = reversed(next[l]++, l);
		if (e & HOLE)
			continue;       /* a reserved symbol: its entries stay NO_CODE */
		if (l <= bits) {
			e += l << 8 | l;        /* adds the code's length to TAKE, which holds the extra bits */
			for (unsigned at = r; at < 1u << bits; at += 1u << l)
				table[at] = e;
			continue;
		}
		uint32_t *main = &table[r & ((1u << bits) - 1)];
		unsigned second = LONGEST - bits;

		if (*main & HOLE) {
			*main = used << 16 | SPECIAL | SECOND | second << 8 | bits;
			fill_up(table + used, 1u << second);
			used += 1u << second;
		}
		e += (l - bits) << 8 | (l - bits);
		for (unsigned at = r >> bits; at < 1u << second; at += 1u << (l - bits))
			table[NUMBER(*main) + at] = e;
	}
	return true;
}
