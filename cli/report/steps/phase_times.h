/* Times of each phase of each step, on the host and on the GPU.  The rule of phases: cli/model/torch/phases.h. */
#ifndef CLI_REPORT_STEPS_PHASE_TIMES_H
#define CLI_REPORT_STEPS_PHASE_TIMES_H

#include "cli/model/torch/phases.h"
#include "cli/report/parts/gpu_times.h"

struct model;
struct steps;

/* Nanoseconds. */
struct phase_times {
	int64_t wall, host[PHASES];     /* the phases add up to wall */
	int64_t comm_host;              /* time in which a thread issued collectives */
	int64_t comm_host_exposed;      /* the part of comm_host outside the nodes of backward passes */
	struct gpu_times gpu;           /* during the step, of GPU rows launched at any time */
	int64_t idle[PHASES];           /* the part of host[] in which no GPU of the process was busy; valid if gpu.known */
	bool launched[PHASES];          /* the phase launched a GPU row that has a time */
	int64_t launched_busy[PHASES];  /* union of the launched GPU rows, at any time */
};

/* By position in s->list; the caller frees the array.  Returns NULL when out of memory. */
struct phase_times *phase_times_make(struct model *m, const struct steps *s);

#endif
