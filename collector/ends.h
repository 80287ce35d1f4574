/* How a process ended, and the CPU time that it took: what the kernel says of it, before and after its parent has waited for it. */
#ifndef COLLECTOR_ENDS_H
#define COLLECTOR_ENDS_H

#include <stdint.h>

#include "collector/alive.h"

struct ending {
	uint32_t how, status;           /* enum how_ended; exit status or signal */
	int64_t cpu;                    /* ns; 0: not known */
};

/* Fills in what is not known yet.  Call as early as can be: the parent may be waiting for the process. */
void ending_look(struct ending *e, const struct alive *a);

/* CPU time of a process that runs, ns; 0: not known. */
int64_t cpu_of(uint32_t pid);

#endif
