/* Which span of time a critical path is of: a step of a process, or all of it where there are no steps. */
#ifndef ANALYZE_PATH_SPAN_H
#define ANALYZE_PATH_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct step;
struct steps;

struct path_span {
	const struct steps *steps;
	const struct step *step;        /* NULL: the process as a whole */
	uint32_t process, thread;       /* position in model_processes(); ordinal of the thread, 0: none did anything */
	int64_t start, end;
	size_t n;                       /* steps that it was chosen of */
	bool median;                    /* chosen as the median, not by its number */
};

/*
 * number: of the step; NULL: the median one.  Of the process and kind with most steps.  1; 0: there is no such step, and
 * n says of how many; -1: out of memory.
 */
int path_span_of(struct model *m, const char *number, struct path_span *s);

#endif
