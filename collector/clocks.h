/* Reading the host's three clocks together.  Converting between them is the reader's work. */
#ifndef COLLECTOR_CLOCKS_H
#define COLLECTOR_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/records.h"

/*
 * The TSC runs at one rate in all states of the CPU, and the kernel itself trusts it (so it is the same on all cores).
 */
bool clocks_tsc_usable(void);

/* The tightest of several readings; tsc 0 unless with_tsc. */
struct clock_row clocks_read(bool with_tsc);

/* Now on a process's own clock (enum wire_clock). */
int64_t clocks_now(unsigned clock);

#endif
