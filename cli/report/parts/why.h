/* Reasons why a trace lacks rows, for notes below empty tables and for the page. */
#ifndef CLI_REPORT_PARTS_WHY_H
#define CLI_REPORT_PARTS_WHY_H

#include <stdbool.h>
#include <stddef.h>

struct model;
struct table;

/*
 * The advice for something that the trace lacks: `ours` for a trace recorded by gprof-run; for an imported trace `theirs`, which names an
 * option of torch.profiler, or when theirs is NULL "the imported file has none".
 */
const char *why_lacks(struct model *m, const char *ours, const char *theirs);

/* Notes below an empty table why the trace has no `what` ("kernels"), and what to do. */
void why_no_gpu(struct model *m, struct table *t, const char *what);

/* Into text: the part of the program's time that was recorded (--delay, --duration).  Returns false, text unchanged: all was recorded. */
bool why_window(struct model *m, char *text, size_t size);

/*
 * Into text: how many processes sent their rows through a pipe instead of shared memory, why, and what they lose when killed.  Returns
 * false, text unchanged, when none did.
 */
bool why_pipe(struct model *m, char *text, size_t size);

/* Into text: how many processes could not connect to the collector, and why the first could not.  Returns false, text unchanged: none. */
bool why_refused(struct model *m, char *text, size_t size);

/* A reason, and what to do about it ("": nothing). */
struct why {
	char text[300], next[300];
};

#define WHY_MOST 4

/* Why the trace has no CUDA rows: fills out, the most likely reason first, and returns how many; at least 1. */
size_t why_no_cuda(struct model *m, struct why out[WHY_MOST]);

/* Notes below a table of GPU rows each process whose own profiler used CUPTI for a time, so that rows of that time are missing. */
void why_gaps(struct model *m, struct table *t);

#endif
