/* The page's last lines: which command to run next. */
#ifndef CLI_PAGE_PAGE_NEXT_H
#define CLI_PAGE_PAGE_NEXT_H

#include "cli/page/page_top.h"

#include <stdbool.h>

struct model;
struct page_lines;
struct step_view;

/* What the page shows, so that its advice fits. */
struct page_found {
	enum page_top top;
	bool phases;            /* phases of the median step */
	bool idle;              /* the GPU's idle time by phase */
	bool slow_step;         /* the slowest step took at least 1.5 times as long as the median step */
	bool late_rank;
};

/* Adds the lines.  path: of the trace, as the user would type it.  0, or -1: out of memory. */
int page_next(struct page_lines *p, const struct step_view *v, const struct page_found *f, const char *path);

#endif
