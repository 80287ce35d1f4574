/* A mean as a cell of a table. */
#ifndef CLI_REPORT_PARTS_MEAN_H
#define CLI_REPORT_PARTS_MEAN_H

#include "cli/ui/table.h"

/* sum / n with `decimals` decimals, rounded half up; unknown for n = 0. */
struct cell mean_cell(int64_t sum, size_t n, unsigned decimals);

#endif
