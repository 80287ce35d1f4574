/* The page's lines about what is missing from a trace, and why. */
#ifndef CLI_PAGE_PAGE_MISSING_H
#define CLI_PAGE_PAGE_MISSING_H

struct model;
struct page_lines;

/* Adds the number of dropped rows, if any. */
void page_drops(struct page_lines *p, struct model *m);

/* Adds why the trace is incomplete or, if it has no GPU row, why it has none. */
void page_missing(struct page_lines *p, struct model *m);

#endif
