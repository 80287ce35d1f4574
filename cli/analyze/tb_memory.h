/* Allocations of a run, for the tables of memory and the advice. */
#ifndef ANALYZE_TB_MEMORY_H
#define ANALYZE_TB_MEMORY_H

#include "cli/analyze/tb.h"

#define TB_CPU_MEMORY UINT32_MAX        /* a device */

struct tb_alloc {
	int64_t time, bytes;            /* bytes: below 0 given back */
	uint64_t allocated, reserved;   /* of the device after it, where totals says so */
	uint32_t device;
	uint32_t thread;                /* position in the tids asked for; their number: another */
	bool totals;
};

struct tb_allocs {
	struct tb_alloc *list;          /* by thread, then time; equal ones as in the file */
	size_t n;
	size_t *first;                  /* by thread: where its own begin; one more, and those of other threads behind it */
	uint32_t devices[64];           /* that there are any on */
	size_t n_devices;
};

/* 0, or -1: out of memory.  tb_allocs_release() in both cases. */
int tb_allocs_make(struct tb_allocs *a, const struct tb_run *r, const uint32_t *tids, size_t n_tids);
void tb_allocs_release(struct tb_allocs *a);

struct tb_peak {
	bool known;
	uint64_t allocated, reserved;
};

struct tb_peak tb_peak_of(const struct tb_allocs *a, uint32_t device);

/* "CPU", "GPU0". */
const char *tb_memory_device(struct table *t, uint32_t device);

#endif
