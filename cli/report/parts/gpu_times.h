/* What the GPUs of a process did in an interval, for reports and the page.  Formulas: "GPU quantities" in docs/reference/numbers.md. */
#ifndef CLI_REPORT_PARTS_GPU_TIMES_H
#define CLI_REPORT_PARTS_GPU_TIMES_H

#include "cli/model/gpu/gpu_span.h"

/* Nanoseconds inside the interval, of GPU rows launched at any time.  A flag says whether the fields after it are valid. */
struct gpu_times {
	bool known;                     /* the process has a GPU row with a time */
	int64_t busy, idle;
	bool parts;                     /* known, and no whole graph runs in the interval; what runs inside a whole graph is unknown */
	int64_t compute, comm, exposed, memcpy, memset; /* exposed: communication without compute at the same time */
};

/* GPU rows of each process as sets of intervals. */
struct gpu_sets {
	struct model *m;
	struct gpu_rows *rows;          /* by process */
	struct spans *exposed;
	uint32_t n;
};

/* Returns 0, or -1 when out of memory; gpu_sets_release() in any case. */
int gpu_sets_make(struct gpu_sets *s, struct model *m);
void gpu_sets_release(struct gpu_sets *s);

/* process: position in model_processes().  from, to: ns on the trace's clock. */
struct gpu_times gpu_times_within(const struct gpu_sets *s, uint32_t process, int64_t from, int64_t to);

/* Only .idle of gpu_times_within(); 0 when it is not known. */
int64_t gpu_idle_within(const struct gpu_sets *s, uint32_t process, int64_t from, int64_t to);

/* Adds b, the times of another interval of the same process, to *sum ({ 0 } at first). */
void gpu_times_add(struct gpu_times *sum, const struct gpu_times *b);

#endif
