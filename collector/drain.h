/* Moves rows from the blocks of an arena to staging.  Every byte in an arena is untrusted. */
#ifndef COLLECTOR_DRAIN_H
#define COLLECTOR_DRAIN_H

#include "collector/process.h"

enum drain_what {
	DRAIN_FULL,                     /* blocks that were handed over; one may be missed until the next call */
	DRAIN_ALL,                      /* all blocks that were handed over, and what is published in those in use */
};

/* Takes the rows of p's arena (p->guest is set), and frees the blocks that were handed over. */
void drain(struct tree_process *p, enum drain_what what);

#endif
