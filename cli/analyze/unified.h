/* Unified memory in one line, for the page. */
#ifndef ANALYZE_UNIFIED_H
#define ANALYZE_UNIFIED_H

#include <stddef.h>

struct model;

/* "12.6 MB to GPUs, 10.5 MB back, page faults: 15 of the CPU, 72 of GPUs"; empty: there is none.  0, or -1: out of memory. */
int unified_text(struct model *m, char *text, size_t size);

#endif
