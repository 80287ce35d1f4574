/* Why there is nothing to show: an empty table is an answer only with its reason. */
#ifndef ANALYZE_WHY_H
#define ANALYZE_WHY_H

#include <stdbool.h>
#include <stddef.h>

struct model;
struct table;

/*
 * What to do about something that the trace lacks: `ours` where gprof-run recorded it; where it was imported `theirs`,
 * which names the option of torch.profiler, or NULL: that the file has none.
 */
const char *why_lacks(struct model *m, const char *ours, const char *theirs);

/* Notes below an empty GPU or CUDA report.  what: "kernels". */
void why_no_gpu(struct model *m, struct table *t, const char *what);

/* What part of the program's time was recorded, into text.  False: all of it. */
bool why_window(struct model *m, char *text, size_t size);

/*
 * How rows came out of the processes, where not through shared memory, and what that cannot promise, into text.
 * False: all through shared memory.
 */
bool why_pipe(struct model *m, char *text, size_t size);

/*
 * The same reasons, one at a time: reason i into text, what to do about it into next ("" when there is nothing to do).
 * Returns false when there is no such reason.  There is always a first.
 */
struct why {
	char text[300], next[300];
};

#define WHY_MOST 4              /* more reasons than this are not read */

/* Fills at most WHY_MOST; their number. */
size_t why_no_cuda(struct model *m, struct why out[WHY_MOST]);

/* Below a table of what GPUs did: when it is not complete because the program's own profiler had CUPTI to itself. */
void why_gaps(struct model *m, struct table *t);

#endif
