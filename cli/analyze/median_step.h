/* The step that stands for all: the real one whose length on the host is the median. */
#ifndef ANALYZE_MEDIAN_STEP_H
#define ANALYZE_MEDIAN_STEP_H

#include "cli/model/steps.h"

struct model;

#define ANY_PROCESS UINT32_MAX

/* Of the steps of a kind in one process, or in all, that count (step_counts()). */
struct median_step {
	size_t n;                       /* 0: there are none, and the rest is nothing */
	const struct step *median, *slowest;    /* of several the first */
};

/* 0, or -1: out of memory. */
int median_step(const struct steps *s, uint32_t process, size_t kind, struct median_step *out);

/* The process and kind with most steps that count, of the processes that are wanted.  False: there are none. */
bool most_steps(const struct steps *s, const bool *wanted, uint32_t *process, size_t *kind);

/* "median of 3 steps of kind train (#5), 222 ms", "step #5, 222 ms" */
const char *median_step_words(struct model *m, const struct steps *s, const struct median_step *of, char *text, size_t size);

/* "process 3 (rank 2): ", or "" where there are not several that it could be. */
const char *process_words(struct model *m, uint32_t process, bool several, char *text, size_t size);

#endif
