/* The line that the page has on steps. */
#ifndef ANALYZE_STEP_LINE_H
#define ANALYZE_STEP_LINE_H

#include <stddef.h>

struct model;

/*
 * "60: half take 5.69 ms or less, number 7 the longest with 22.0 ms; ..."; "": there are none, or looking for them
 * takes too long.  0, or -1: out of memory.
 */
int step_line(struct model *m, char *text, size_t size);

#endif
