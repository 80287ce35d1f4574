/* What a dead process left behind: rows in blocks that it never handed over, and the ranges that it had open. */
#ifndef COLLECTOR_SALVAGE_H
#define COLLECTOR_SALVAGE_H

#include "collector/process.h"

/* p is a guest and will not write any more. */
void salvage(struct process *p);

#endif
