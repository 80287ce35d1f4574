/* What each step of a trace cost, and where. */
#ifndef ANALYZE_STEP_TIMES_H
#define ANALYZE_STEP_TIMES_H

#include "cli/model/sort.h"
#include "cli/model/steps.h"

/* Nanoseconds.  The fields behind a flag are nothing where it is false. */
struct step_times {
	int64_t wall;
	bool gpu;                       /* it launched something that ran on a GPU, with a time */
	int64_t gpu_start, gpu_end;     /* of the first and the last of that, wherever in time it ran */
	int64_t busy;                   /* union of all of it */
	bool parts;                     /* gpu, and nothing of it is a whole graph: who knows what was inside */
	int64_t compute, comm, memcpy, memset;  /* unions of each kind */
	bool calls;                     /* CUDA calls were recorded */
	int64_t api;                    /* sum of them; of threads side by side it can be more than wall */
	uint64_t launches;              /* of them, those that launch kernels and graphs */
	bool counted;                   /* kernels were recorded */
	uint64_t kernels;
};

static inline int64_t step_gpu_wall(const struct step_times *t)
{
	return time_sub(t->gpu_end, t->gpu_start);
}

/* By position in s->list; free() it.  NULL: out of memory. */
struct step_times *step_times_make(struct model *m, const struct steps *s);

/* Whether rows were kept in this step at all: not in a warm-up, and not between two windows. */
bool step_was_kept(const struct steps *s, const struct step *step);

#endif
