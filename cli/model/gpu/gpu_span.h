/*
 * GPU time by the definitions of docs/reference/numbers.md: when work of each kind ran, and the GPU span, the base of shares of GPU time.
 * All sets are in order (spans.h); arrays are indexed by position in model_processes().
 */
#ifndef CLI_MODEL_GPU_GPU_SPAN_H
#define CLI_MODEL_GPU_GPU_SPAN_H

#include "cli/model/spans.h"

struct model;

enum gpu_work { GPU_COMPUTE, GPU_COMM, GPU_COPIES, GPU_SETS, GPU_GRAPHS, GPU_WORKS };

/* GPU work of one process, also what a selection of steps and windows leaves out. */
struct gpu_rows {
	struct spans work[GPU_WORKS];   /* GPU_GRAPHS: graphs recorded as one row; their nodes are not known */
	struct spans busy;              /* union of all work */
	uint64_t rows, untimed;         /* untimed: rows without a time from CUPTI, in no set */
	int64_t first, last;            /* start of the first row, end of the last; 0, 0: no row has a time */
};

/* GPU work of every process; free with gpu_rows_free(), which takes NULL.  NULL: out of memory. */
struct gpu_rows *model_gpu_rows(struct model *m);
void gpu_rows_free(struct model *m, struct gpu_rows *rows);

/*
 * The GPU span of each process.  With windows: for each window, from the start of the first to the end of the last GPU row launched in
 * it.  Without windows: from the first to the last GPU row.  With selected steps: these steps, as far as they were recorded.  Empty if no
 * GPU row of the process has a time.  rows: result of model_gpu_rows(), not clipped.  NULL: out of memory.  Free with gpu_spans_free(),
 * which takes NULL.
 */
struct spans *model_gpu_spans(struct model *m, const struct gpu_rows *rows);
void gpu_spans_free(struct model *m, struct spans *spans);

/* Clips each set of *rows to the span.  0, or -1: out of memory. */
int gpu_rows_clip(struct gpu_rows *rows, const struct spans *span);

/* model_gpu_rows(), clipped to the GPU span of each process; *spans gets the spans.  NULL: out of memory. */
struct gpu_rows *model_gpu_rows_in_span(struct model *m, struct spans **spans);

/* Sets *out to the times of the selected steps of a process, as far as they were recorded.  0, or -1: out of memory. */
int model_selected_steps(struct model *m, uint32_t process, struct spans *out);

#endif
