/* Unified memory on the line of the page. */
#ifndef CLI_REPORT_CUDA_UNIFIED_H
#define CLI_REPORT_CUDA_UNIFIED_H

#include <stddef.h>

struct model;

/* "12.6 MB to GPUs, 10.5 MB back, page faults of the CPU: 15, of GPUs: 72"; "": no rows.  Returns 0, or -1 when out of memory. */
int unified_text(struct model *m, char *text, size_t size);

#endif
