/*
 * The page as blocks of lines, before it is printed.  It has at most 25 lines of at most 80 columns; if there are more, the
 * least important blocks are left out.
 */
#ifndef CLI_PAGE_PAGE_LINES_H
#define CLI_PAGE_PAGE_LINES_H

#include "cli/ui/json_out.h"

#include <stdbool.h>
#include <stddef.h>

#define PAGE_WIDTH  80u
#define PAGE_LINES  25u
#define PAGE_LABEL  12u         /* columns of the label at the left */

/* Importance of a block: the largest value is left out first, KEEP_ALWAYS never. */
enum keep { KEEP_ALWAYS, KEEP_TABLE, KEEP_LOSS, KEEP_STEP, KEEP_WHAT, KEEP_MORE, KEEP_DETAIL, KEEP_ASIDE };

struct page_line {
	char *text;
	struct styled styled[2];
	size_t n_styled;
};

struct page_block {
	struct page_line *lines;
	size_t n, cap;
	enum keep keep;
};

/* An empty page is { .width = 80 }. */
struct page_lines {
	struct page_block *blocks;
	size_t n, cap, width;
	bool failed;            /* out of memory */
};

/* Adds an empty block and returns its number.  Out of memory: p->failed, as in all functions below. */
size_t page_block(struct page_lines *p, enum keep keep);

/* Adds a line to a block; it is cut at the page's width when it is printed. */
void page_line(struct page_lines *p, size_t block, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Gives n bytes of a block's last line a style; at most twice for a line, from left to right. */
void page_style(struct page_lines *p, size_t block, size_t from, size_t n, enum style style);

/* Gives the label of a block's last line its style: a warning if the block is KEEP_LOSS, else bold. */
void page_label(struct page_lines *p, size_t block, const char *label);

/* Adds a block with a label and a text, wrapped, in at most `most` lines; the last line ends with an ellipsis if there is more. */
void page_text(struct page_lines *p, enum keep keep, const char *label, const char *text, size_t most);

/* Shortens a command to `width` columns, if it can: replaces folders of its paths by an ellipsis, from the left.  Returns text. */
const char *page_command(char *text, size_t size, const char *command, size_t width);

/* Adds a text with line ends to a block, line by line. */
void page_split(struct page_lines *p, size_t block, const char *text);

/* Removes the last line of a block. */
void page_drop(struct page_lines *p, size_t block);

/* Number of lines of all blocks. */
size_t page_count(const struct page_lines *p);

/* Prints the page; removes blocks that do not fit.  0, or -1: out of memory. */
int page_lines_print(struct page_lines *p, struct out *out);
/* Frees all blocks. */
void page_lines_release(struct page_lines *p);

#endif
