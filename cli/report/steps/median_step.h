/* The median step: the real step whose wall time is the median. */
#ifndef CLI_REPORT_STEPS_MEDIAN_STEP_H
#define CLI_REPORT_STEPS_MEDIAN_STEP_H

#include "cli/model/steps/steps.h"

struct model;

#define ANY_PROCESS UINT32_MAX

/* Of the steps of one kind, in one process or in all, that count (step_counts()). */
struct median_step {
	size_t n;                       /* number of these steps; 0: median and slowest are NULL */
	const struct step *median, *slowest;    /* of steps with equal wall time the first */
};

/* process: position in model_processes(), or ANY_PROCESS.  Returns 0, or -1 when out of memory. */
int median_step(const struct steps *s, uint32_t process, size_t kind, struct median_step *out);

/* The process and kind with most steps that count, among processes p with wanted[p].  Returns false when there is none. */
bool most_steps(const struct steps *s, const bool *wanted, uint32_t *process, size_t *kind);

/* "median step (#5 of 20 steps of kind train), 222 ms"; "step #5, 222 ms" when of->n is 1.  Returns text. */
const char *median_step_words(struct model *m, const struct steps *s, const struct median_step *of, char *text, size_t size);

/* "process 3 (rank 2): "; "" unless `several`.  Returns text. */
const char *process_words(struct model *m, uint32_t process, bool several, char *text, size_t size);

/* " of rank 2"; " of process 3" for a process without a rank.  Returns text. */
const char *whose_words(struct model *m, uint32_t process, char text[48]);

#endif
