/* Blocks of an arena -> staged rows.  Every byte in an arena is foreign. */
#ifndef COLLECTOR_DRAIN_H
#define COLLECTOR_DRAIN_H

#include "collector/process.h"

enum drain_what {
	DRAIN_FULL,                     /* blocks that were handed over; one may be left for the next time */
	DRAIN_ALL,                      /* all of them, and what is published in the others */
};

/* Takes the rows of p's arena (p is a guest) and gives handed-over blocks back. */
void drain(struct process *p, enum drain_what what);

#endif
