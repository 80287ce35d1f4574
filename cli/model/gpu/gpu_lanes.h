/* One pass over all GPU rows, for the files of cli/model that sum them by process or by device. */
#ifndef CLI_MODEL_GPU_GPU_LANES_H
#define CLI_MODEL_GPU_GPU_LANES_H

#include "cli/model/gpu/gpu_span.h"

/* The GPU rows of a process on a device that one worker of the pass read.  Each pair can have one entry per worker. */
struct gpu_lane {
	uint32_t process, device;
	uint64_t rows, untimed;         /* untimed: rows without a time from CUPTI, not included below */
	int64_t first, last;            /* start of the first row, end of the last; 0, 0: no row has a time */
	struct spans work[GPU_WORKS];   /* in order */
	struct spans reading[2];        /* private to gpu_lanes.c: rows of the kind being read; [1]: communication */
};

struct gpu_lanes {
	struct gpu_lane *list;
	size_t n;
};

/*
 * Reads all GPU rows, also those that a selection of steps and windows leaves out.  by_work false: all kernels count as GPU_COMPUTE.
 * Returns 0, or -1: out of memory; call gpu_lanes_release() in both cases.
 */
int gpu_lanes_read(struct model *m, bool by_work, struct gpu_lanes *lanes);
void gpu_lanes_release(struct gpu_lanes *lanes);

/* First and last selected GPU row of one window on one device. */
struct window_edge {
	uint32_t window, device;        /* window: position in model_windows() */
	int64_t first, last;            /* start of the first row, end of the last */
};

struct window_edges {
	struct window_edge *list;
	size_t n;
};

/* Fills edges->list, to be freed with free() in any case.  Returns 0, or -1: out of memory. */
int window_edges_read(struct model *m, struct window_edges *edges);

/* Whether the GPU span of a process is simply from its first to its last row: it has no windows, and at most window 1 is selected. */
bool model_counts_whole(struct model *m, uint32_t process);

#endif
