/* The page's line on what recording cost. */
#ifndef CLI_PAGE_OVERHEAD_H
#define CLI_PAGE_OVERHEAD_H

struct model;

#define PAGE_OVERHEAD 400

/* Of the selected processes, all of their time; "" where nothing was recorded.  0, or -1: out of memory. */
int page_overhead(struct model *m, char text[PAGE_OVERHEAD]);

#endif
