/* The page's table of the kernels, operators, ranges or functions that took most time. */
#ifndef CLI_PAGE_PAGE_TOP_H
#define CLI_PAGE_PAGE_TOP_H

#include <stddef.h>
#include <stdint.h>

struct model;
struct page_lines;

enum page_top { TOP_NONE, TOP_KERNELS, TOP_OPERATORS, TOP_RANGES, TOP_STARTEND, TOP_FUNCTIONS };

struct page_table {
	enum page_top top;
	size_t block;           /* the block of its lines: an empty one, the heading, and `shown` rows */
	size_t shown, all;      /* rows in the table; rows that there are */
	unsigned indent;        /* column where names begin */
};

/* Writes a number with commas, 1,234,567; returns text. */
const char *page_number(char text[32], uint64_t n);

/*
 * Adds a block with a table of at most `rows` rows.  It has the first of these that the trace has: kernels, PyTorch's
 * operators, push/pop ranges, start/end ranges (`ranges` is the word for a range), functions by CPU samples.  Shares: of
 * the time of all kernels; for operators and push/pop ranges, which nest, the self time as a share of all self times; of
 * all samples.  0, or -1: out of memory.
 */
int page_top(struct page_lines *p, struct model *m, size_t rows, const char *ranges, struct page_table *t);

/* Ends the table: removes rows, down to `fewest`, while the page is too long, and adds the number of rows not shown. */
void page_top_end(struct page_lines *p, struct page_table *t, size_t fewest);

#endif
