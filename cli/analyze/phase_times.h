/* What each phase of each step cost, on the host and on the GPU. */
#ifndef ANALYZE_PHASE_TIMES_H
#define ANALYZE_PHASE_TIMES_H

#include "cli/analyze/gpu_times.h"
#include "cli/model/phases.h"

struct model;
struct steps;

/* Nanoseconds. */
struct phase_times {
	int64_t wall, host[PHASES];     /* the phases add up to wall */
	int64_t comm_host;              /* collectives were being issued, on any thread */
	int64_t comm_host_exposed;      /* of that, what no node of a backward pass covers */
	struct gpu_times gpu;           /* in the step, whatever launched it */
	int64_t idle[PHASES];           /* of the phase's host time: while the process had nothing on any GPU; needs gpu.known */
	bool launched[PHASES];          /* the phase launched something that ran on a GPU, with a time */
	int64_t launched_busy[PHASES];  /* union of that, whenever it ran */
};

/* By position in s->list; free() it.  NULL: out of memory. */
struct phase_times *phase_times_make(struct model *m, const struct steps *s);

#endif
