/* The page's line on the overhead of recording. */
#ifndef CLI_PAGE_PAGE_OVERHEAD_H
#define CLI_PAGE_PAGE_OVERHEAD_H

struct model;

#define PAGE_OVERHEAD 400

/* Writes the overhead of the selected processes in their whole run; "" if nothing is known.  0, or -1: out of memory. */
int page_overhead(struct model *m, char text[PAGE_OVERHEAD]);

#endif
