/* GPU rows of all kinds together: kernels, copies, memory sets, graphs recorded as one row. */
#ifndef CLI_MODEL_GPU_GPU_H
#define CLI_MODEL_GPU_GPU_H

#include "cli/model/sort.h"

struct model;

#define GPU_USERS 4

/*
 * One GPU; processes that share it (equal UUIDs) share the entry.  rows, untimed, first and last include rows that a selection of steps
 * and windows leaves out; span and busy do not.  Times in ns.
 */
struct gpu {
	uint32_t process, device;       /* position and device ordinal of the first process that used it */
	uint32_t processes;             /* number of processes that used it */
	uint32_t users[GPU_USERS];      /* positions of the first of these processes */
	uint32_t windows;               /* recorded windows in its GPU span; 0 if it, or one of its processes, has none */
	uint64_t rows, untimed;         /* untimed: rows without a time from CUPTI, not included below */
	int64_t first, last;            /* begin of the first row, end of the last; 0, 0: no row has a time */
	int64_t span;                   /* length of its GPU span (gpu_span.h), of its processes together */
	int64_t busy;                   /* time in the span in which at least one row ran */
};

/* Fills *gpus, to be freed with free(); returns their number, or -1: out of memory. */
int model_gpus(struct model *m, struct gpu **gpus);

/* Every kernel, copy, memory set and whole graph (kind and row), by start; rows without a time first.  free() it; NULL: out of memory. */
struct timed *model_gpu_order(struct model *m, size_t *n);

#endif
