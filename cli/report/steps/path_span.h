/* The time span of a critical path: a step of a process; without steps the whole time of its busiest thread. */
#ifndef CLI_REPORT_STEPS_PATH_SPAN_H
#define CLI_REPORT_STEPS_PATH_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct step;
struct steps;

struct path_span {
	const struct steps *steps;
	const struct step *step;        /* NULL: no step, the whole time of the thread */
	uint32_t process, thread;       /* position in model_processes(); id of the thread, 0: no thread has rows */
	int64_t start, end;
	size_t n;                       /* number of steps among which step was chosen */
	bool median;                    /* step is the median step, not chosen by its number */
};

/*
 * The step `number` (decimal), or for NULL the median step, of the process and kind with most steps.  Returns 1; 0: there is no such step
 * among s->n; -1: out of memory.
 */
int path_span_of(struct model *m, const char *number, struct path_span *s);

#endif
