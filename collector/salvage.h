/* Takes what a process left behind: rows in blocks that it did not hand over, and its open ranges, steps and windows. */
#ifndef COLLECTOR_SALVAGE_H
#define COLLECTOR_SALVAGE_H

#include "collector/process.h"

/* p->guest is set, and writes no more rows.  alive: the process still runs, but the trace is closed. */
void salvage(struct tree_process *p, bool alive);

#endif
