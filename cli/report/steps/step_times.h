/* Times of each step of a trace, on the host and on the GPU.  Formulas: docs/reference/numbers.md. */
#ifndef CLI_REPORT_STEPS_STEP_TIMES_H
#define CLI_REPORT_STEPS_STEP_TIMES_H

#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/gpu_times.h"

/* Nanoseconds.  A flag says whether the fields after it are valid. */
struct step_times {
	int64_t wall;
	struct gpu_times gpu;           /* between the step's start and end on the host, of GPU rows launched at any time */
	bool launched;                  /* the step launched a GPU row that has a time */
	int64_t launched_start, launched_end;   /* first start and last end of the launched GPU rows; may be outside the step */
	int64_t launched_busy;          /* union of the launched GPU rows */
	bool calls;                     /* CUDA calls were recorded */
	int64_t api;                    /* sum of the CUDA calls of all threads; can be above wall */
	uint64_t launches;              /* number of calls that launch kernels or graphs */
	bool counted;                   /* kernels were recorded, and the step launched no whole graph */
	uint64_t kernels;               /* number of launched kernels */
	uint64_t graphs;                /* number of launched whole graphs that have a time */
};

/* By position in s->list; the caller frees the array.  Returns NULL when out of memory. */
struct step_times *step_times_make(struct model *m, const struct steps *s);

/* Whether a step counts in medians and means: it is selected, recorded (no warm-up) and complete. */
bool step_counts(const struct steps *s, const struct step *step);

#endif
