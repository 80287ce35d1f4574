/* What each step of a trace cost, and where. */
#ifndef ANALYZE_STEP_TIMES_H
#define ANALYZE_STEP_TIMES_H

#include "cli/analyze/gpu_times.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

/* Nanoseconds.  The fields behind a flag are nothing where it is false. */
struct step_times {
	int64_t wall;
	struct gpu_times gpu;           /* between the step's start and end on the host, whatever launched it */
	bool launched;                  /* it launched something that ran on a GPU, with a time */
	int64_t launched_start, launched_end;   /* of the first and the last of that, wherever in time it ran */
	int64_t launched_busy;          /* union of all of it */
	bool calls;                     /* CUDA calls were recorded */
	int64_t api;                    /* sum of them; of threads side by side it can be more than wall */
	uint64_t launches;              /* of them, those that launch kernels and graphs */
	bool counted;                   /* kernels were recorded, and it launched no whole graph */
	uint64_t kernels;               /* that it launched */
	uint64_t graphs;                /* whole graphs that it launched */
};

/* By position in s->list; free() it.  NULL: out of memory. */
struct step_times *step_times_make(struct model *m, const struct steps *s);

/* Whether it is in medians and means: selected, recorded and complete. */
bool step_counts(const struct steps *s, const struct step *step);

#endif
