/* Reads the host's three clocks together.  The reader of the trace converts between them. */
#ifndef COLLECTOR_CLOCKS_H
#define COLLECTOR_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/records.h"

/* True if the TSC runs at one rate in all states of the CPU, and the kernel itself uses it, so that it is the same on all cores. */
bool clocks_tsc_usable(void);

/* Returns the tightest of several readings; tsc is 0 unless with_tsc. */
struct clock_row clocks_read(bool with_tsc);

/* Returns the current time on a process's clock (enum wire_clock): ticks of the TSC, or ns. */
int64_t clocks_now(unsigned clock);

#endif
