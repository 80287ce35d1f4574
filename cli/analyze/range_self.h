/* Time of the program's push/pop ranges without that of ranges in them: parts of a whole, where the times themselves are not. */
#ifndef ANALYZE_RANGE_SELF_H
#define ANALYZE_RANGE_SELF_H

#include "cli/analyze/stats.h"

struct model;

/* By the keys of ranges_sum(), with PyTorch's and the libraries' left out as there.  0, or -1: out of memory. */
int ranges_self(struct model *m, struct groups *self);

#endif
