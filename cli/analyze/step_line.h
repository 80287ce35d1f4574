/* The line that the page has on steps. */
#ifndef ANALYZE_STEP_LINE_H
#define ANALYZE_STEP_LINE_H

#include <stddef.h>

struct model;

/*
 * "60, median 5.69 ms, slowest #7 at 22.0 ms (details: report -r steps)" of the kind with most steps; "": there are none,
 * or looking for them takes too long.  0, or -1: out of memory.
 */
int step_line(struct model *m, char *text, size_t size);

#endif
