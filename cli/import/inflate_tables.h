/* Tables that the codes of deflate are looked up in (RFC 1951, 3.2). */
#ifndef IMPORT_INFLATE_TABLES_H
#define IMPORT_INFLATE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#define MAIN_BITS  11u
#define DIST_BITS  8u
#define LONGEST    15u
#define TABLE_SIZE ((1u << MAIN_BITS) + 288u * (1u << (LONGEST - MAIN_BITS)))   /* a second table for each code, at worst */

/*
 * An entry: the bits to take, extra ones included; how many of them are the code, with what it is; its number, to which
 * the extra bits are added.
 */
#define TAKE(e)    ((e) & 0x3f)
#define CODE(e)    ((e) >> 8 & 0x1f)
#define NUMBER(e)  ((e) >> 16)
#define LITERAL    0x8000u
#define SPECIAL    0x4000u              /* alone: the end of the block */
#define SECOND     0x2000u              /* special; NUMBER: where its table begins; CODE: bits that it is looked up by */
#define HOLE       0x80u                /* special: no code */
#define NO_CODE    (SPECIAL | HOLE)

/* What symbols mean. */
enum inflate_symbols {
	SYMBOL_LENGTHS,                 /* literals, the end of the block, lengths of matches */
	SYMBOL_DISTANCES,
	SYMBOL_NUMBERS,                 /* themselves */
};

/*
 * Codes of the given lengths (0: none) for symbols 0 to n - 1 into a table that is looked up by `bits` bits; table has room
 * for TABLE_SIZE.  False: they are no code.
 */
bool inflate_table(uint32_t *table, unsigned bits, const uint8_t *lengths, unsigned n, enum inflate_symbols symbols);

#endif
