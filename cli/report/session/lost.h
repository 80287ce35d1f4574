/* Kernels that were launched but are not in the trace, and that no health counter reports. */
#ifndef CLI_REPORT_SESSION_LOST_H
#define CLI_REPORT_SESSION_LOST_H

#include <stdint.h>

struct model;

/*
 * Number of successful kernel launches without a kernel and without a graph node in the trace, by process (position in
 * model_processes()).  All 0 when that number cannot be known: the trace is not finished, a window may have cut off kernels, or graphs
 * were recorded whole.  The caller frees the array.  Returns NULL when out of memory.
 */
uint64_t *lost_launches(struct model *m);

#endif
