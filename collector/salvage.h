/* What a dead process left behind: rows in blocks that it never handed over, and the ranges that it had open. */
#ifndef COLLECTOR_SALVAGE_H
#define COLLECTOR_SALVAGE_H

#include "collector/process.h"

/* p is a guest and will not write any more; alive: though it lives on, for the trace is closed. */
void salvage(struct process *p, bool alive);

#endif
