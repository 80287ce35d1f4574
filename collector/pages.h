/* Pages of an arena that a burst of rows filled and that are unused now. */
#ifndef COLLECTOR_PAGES_H
#define COLLECTOR_PAGES_H

#include "collector/process.h"

/*
 * Frees such pages when no block was given back for some sweeps: they count as memory of the process and its cgroup.  Call once a second.
 */
void pages_give_back(struct connected_guest *g);

#endif
