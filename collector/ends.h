/* How a process ended, and its CPU time, as the kernel tells before or after its parent has waited for it. */
#ifndef COLLECTOR_ENDS_H
#define COLLECTOR_ENDS_H

#include <stdint.h>

#include "collector/alive.h"

struct ending {
	uint32_t how, status;           /* enum how_ended; exit status or signal */
	int64_t cpu;                    /* ns; 0: unknown */
};

/* Fills in what is unknown.  Call as early as possible: the parent may be waiting for the process. */
void ending_look(struct ending *e, const struct alive *a);

/* CPU time of a running process in ns; 0: unknown. */
int64_t cpu_of(uint32_t pid);

#endif
