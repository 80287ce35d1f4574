/* What a process's GPUs did in an interval: the one place for reports and the page.  docs/numbers.md has the formulas. */
#ifndef ANALYZE_GPU_TIMES_H
#define ANALYZE_GPU_TIMES_H

#include "cli/model/gpu_span.h"

/* Nanoseconds inside the interval, whatever launched the rows.  The fields behind a flag are nothing where it is false. */
struct gpu_times {
	bool known;                     /* a GPU row of the process has a time */
	int64_t busy, idle;
	bool parts;                     /* known, and no whole graph runs in the interval: nobody knows what was inside */
	int64_t compute, comm, exposed, memcpy, memset; /* exposed: communication while nothing computes */
};

/* GPU rows of each process, read once and made ready to be cut to intervals. */
struct gpu_sets {
	struct model *m;
	struct gpu_rows *rows;          /* by process */
	struct spans *exposed;
	uint32_t n;
};

/* gpu_sets_release() in any case.  0, or -1: out of memory. */
int gpu_sets_make(struct gpu_sets *s, struct model *m);
void gpu_sets_release(struct gpu_sets *s);

struct gpu_times gpu_times_within(const struct gpu_sets *s, uint32_t process, int64_t from, int64_t to);

/* Alone .idle of it; 0 where nothing is known. */
int64_t gpu_idle_within(const struct gpu_sets *s, uint32_t process, int64_t from, int64_t to);

/* Adds b, another interval of the same process. */
void gpu_times_add(struct gpu_times *sum, const struct gpu_times *b);

#endif
