/* Lookup tables for the Huffman codes of deflate (RFC 1951, 3.2). */
#ifndef IMPORT_INFLATE_TABLES_H
#define IMPORT_INFLATE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#define MAIN_BITS  11u
#define DIST_BITS  8u
#define LONGEST    15u
#define TABLE_SIZE ((1u << MAIN_BITS) + 288u * (1u << (LONGEST - MAIN_BITS)))   /* at worst each code has a second-level table */

/*
 * An entry: TAKE, bits to consume, code and extra bits; CODE, bits of the code alone, and the flags below; NUMBER, the
 * value, to which the extra bits are added.
 */
#define TAKE(e)    ((e) & 0x3f)
#define CODE(e)    ((e) >> 8 & 0x1f)
#define NUMBER(e)  ((e) >> 16)
#define LITERAL    0x8000u
#define SPECIAL    0x4000u              /* without SECOND and HOLE: end of the block */
#define SECOND     0x2000u              /* with SPECIAL: a second-level table; NUMBER: its first entry, CODE: its index bits */
#define HOLE       0x80u                /* with SPECIAL: unused code */
#define NO_CODE    (SPECIAL | HOLE)

/* Which alphabet the symbols belong to. */
enum inflate_symbols {
	SYMBOL_LENGTHS,                 /* literals, end of the block, match lengths */
	SYMBOL_DISTANCES,               /* match distances */
	SYMBOL_NUMBERS,                 /* code lengths: NUMBER is the symbol */
};

/*
 * Builds the table of the code in which symbol i, below n, has lengths[i] bits (0: unused).  bits: index bits of the first
 * level; table has room for TABLE_SIZE entries.  False: the lengths are not a prefix code.
 */
bool inflate_table(uint32_t *table, unsigned bits, const uint8_t *lengths, unsigned n, enum inflate_symbols symbols);

#endif
