/* What the GPUs did, all kinds together: kernels, copies, memory sets, graphs that are one row. */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include "cli/model/sort.h"

struct model;

#define GPU_USERS 4

/*
 * One device as the processes see it; processes that share a GPU (equal UUIDs) are one entry.  What a selection of steps
 * and windows leaves out is in all but span and busy.
 */
struct gpu {
	uint32_t process, device;       /* of the first process that used it */
	uint32_t processes;             /* that used it */
	uint32_t users[GPU_USERS];      /* the first of them */
	uint32_t windows;               /* recorded windows in its GPU span; 0 where it has none, or some process has none */
	uint64_t rows, untimed;         /* untimed: CUPTI gave no time; they are in no figure below */
	int64_t first, last;            /* begin of the first, end of the last; 0, 0: none has a time */
	int64_t span;                   /* length of its GPU span (gpu_span.h), of its processes together */
	int64_t busy;                   /* union of all intervals in the span */
};

/* free() *gpus.  Their number, or -1: out of memory. */
int model_gpus(struct model *m, struct gpu **gpus);

/*
 * Every kernel, copy, memory set and whole graph by start (kind and row; those without a time first).  free() it; NULL:
 * out of memory.
 */
struct timed *model_gpu_order(struct model *m, size_t *n);

#endif
