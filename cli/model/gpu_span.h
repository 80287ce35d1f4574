/*
 * GPU time by the definitions of docs/numbers.md: when a process had what on its GPUs, and the GPU span, the time that
 * this is a share of.  All sets are in order (spans.h) and stand by position in model_processes().
 */
#ifndef MODEL_GPU_SPAN_H
#define MODEL_GPU_SPAN_H

#include "cli/model/spans.h"

struct model;

enum gpu_work { GPU_COMPUTE, GPU_COMM, GPU_COPIES, GPU_SETS, GPU_GRAPHS, GPU_WORKS };

/* What ran of one process, whatever launched it: what a selection of steps and windows leaves out is here too. */
struct gpu_rows {
	struct spans work[GPU_WORKS];   /* GPU_GRAPHS: graphs that are one row; what ran in them is not known */
	struct spans busy;              /* any of it */
	uint64_t rows, untimed;         /* untimed: CUPTI gave no time; they are in no set */
	int64_t first, last;            /* start of the first, end of the last; 0, 0: none has a time */
};

/* NULL: out of memory.  gpu_rows_free() takes NULL. */
struct gpu_rows *model_gpu_rows(struct model *m);
void gpu_rows_free(struct model *m, struct gpu_rows *rows);

/*
 * The GPU span of each process: of each recorded window from the start of the first to the end of the last GPU row
 * launched in it; without windows, from the first to the last GPU row; of a selection of steps, those steps as far as
 * they were recorded.  Empty: no GPU row of the process has a time.  rows: model_gpu_rows(), whole.  NULL: out of
 * memory.  gpu_spans_free() takes NULL.
 */
struct spans *model_gpu_spans(struct model *m, const struct gpu_rows *rows);
void gpu_spans_free(struct model *m, struct spans *spans);

/* Leaves of each set what lies in the span.  0, or -1: out of memory. */
int gpu_rows_clip(struct gpu_rows *rows, const struct spans *span);

/* Both at once: rows inside of the GPU span of their process, which comes in *spans.  NULL: out of memory. */
struct gpu_rows *model_gpu_rows_in_span(struct model *m, struct spans **spans);

/* The selected steps of a process, as far as they were recorded.  0, or -1: out of memory. */
int model_selected_steps(struct model *m, uint32_t process, struct spans *out);

#endif
