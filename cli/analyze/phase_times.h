/* What each phase of each step cost, on the host and on the GPU. */
#ifndef ANALYZE_PHASE_TIMES_H
#define ANALYZE_PHASE_TIMES_H

#include "cli/model/phases.h"

struct model;
struct steps;

/* Nanoseconds. */
struct phase_times {
	int64_t wall, host[PHASES];     /* the phases add up to wall */
	int64_t comm, exposed;          /* collectives on any thread; of that, what no node of a backward pass covers */
	bool gpu;                       /* something of its process ran on a GPU, with a time; else the rest is nothing */
	int64_t busy[PHASES];           /* union of what was launched in the phase, whenever it ran */
	int64_t idle[PHASES];           /* of the phase's host time: while the process had nothing on any GPU */
};

/* By position in s->list; free() it.  NULL: out of memory. */
struct phase_times *phase_times_make(struct model *m, const struct steps *s);

#endif
