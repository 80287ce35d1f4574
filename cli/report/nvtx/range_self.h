/* Self time of the program's push/pop ranges: their time without that of the ranges inside them, so that the times add up. */
#ifndef CLI_REPORT_NVTX_RANGE_SELF_H
#define CLI_REPORT_NVTX_RANGE_SELF_H

#include "cli/report/parts/stats.h"

struct model;

/*
 * Adds self times (ns) to *self, with the keys of ranges_sum(), and sorts it.  As there, ranges of PyTorch and of CUDA libraries are left
 * out; their time belongs to the program's range around them.  Returns 0, or -1 when out of memory.
 */
int ranges_self(struct model *m, struct groups *self);

#endif
