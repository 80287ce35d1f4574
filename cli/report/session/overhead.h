/* The cost of recording. */
#ifndef CLI_REPORT_SESSION_OVERHEAD_H
#define CLI_REPORT_SESSION_OVERHEAD_H

#include <stddef.h>
#include <stdint.h>

struct model;

/*
 * Time in ns that gprof-run took on the program's threads, summed over the selected processes; without buffers and flushes, which run on
 * other threads.  *known: number of measured places; 0: nothing was measured.
 */
int64_t overhead_here(struct model *m, size_t *known);

#endif
