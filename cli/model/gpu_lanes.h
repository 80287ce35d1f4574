/* One pass over all that the GPUs did; for the files of cli/model that sum it by process or by device. */
#ifndef MODEL_GPU_LANES_H
#define MODEL_GPU_LANES_H

#include "cli/model/gpu_span.h"

/* What one worker met of a process on a device.  There may be two of each pair. */
struct gpu_lane {
	uint32_t process, device;
	uint64_t rows, untimed;         /* untimed: CUPTI gave no time; they are in nothing below */
	int64_t first, last;            /* start of the first, end of the last; 0, 0: none has a time */
	struct spans work[GPU_WORKS];   /* in order */
	struct spans reading[2];        /* gpu_lanes.c: of the kind being read: communication apart */
};

struct gpu_lanes {
	struct gpu_lane *list;
	size_t n;
};

/*
 * Rows that a selection of steps and windows leaves out are there too.  by_work false: kernels are not told apart and all
 * are in GPU_COMPUTE.  gpu_lanes_release() in any case.  0, or -1: out of memory.
 */
int gpu_lanes_read(struct model *m, bool by_work, struct gpu_lanes *lanes);
void gpu_lanes_release(struct gpu_lanes *lanes);

/* The rows of one window on one device that are selected. */
struct window_edge {
	uint32_t window, device;        /* window: position in model_windows() */
	int64_t first, last;            /* start of the first, end of the last */
};

struct window_edges {
	struct window_edge *list;
	size_t n;
};

/* free() list in any case.  0, or -1: out of memory. */
int window_edges_read(struct model *m, struct window_edges *edges);

/* Whether the GPU span of a process goes from its first to its last row: it has no windows, and none but 1 is selected. */
bool model_counts_whole(struct model *m, uint32_t process);

#endif
