/* Allocations of a run, for tb_memory, tb_memory_peaks and tb_recommendations. */
#ifndef CLI_COMPAT_TB_TB_MEMORY_H
#define CLI_COMPAT_TB_TB_MEMORY_H

#include "cli/compat/tb/tb.h"

#define TB_CPU_MEMORY UINT32_MAX        /* the device number of host memory */

struct tb_alloc {
	int64_t time, bytes;            /* bytes < 0: freed */
	uint64_t allocated, reserved;   /* bytes of the device after it; valid if totals */
	uint32_t device;
	uint32_t thread;                /* position in the tids asked for; n_tids: another thread */
	bool totals;
};

#define TB_MEMORY_DEVICES 64u   /* most devices of a run; for each, all operators are summed up */

struct tb_allocs {
	struct tb_alloc *list;          /* by thread, then by time, at equal times in file order */
	size_t n;
	size_t *first;                  /* allocations of thread k: list[first[k]] to list[first[k + 1] - 1]; [n_tids]: of other threads */
	uint32_t devices[TB_MEMORY_DEVICES];    /* devices that have allocations */
	size_t n_devices;
	size_t elsewhere;               /* number of allocations on further devices */
};

/* Allocations of a run, grouped by the threads tids[n_tids].  Returns 0, or -1 when out of memory; tb_allocs_release() in any case. */
int tb_allocs_make(struct tb_allocs *a, const struct tb_run *r, const uint32_t *tids, size_t n_tids);
void tb_allocs_release(struct tb_allocs *a);
/* Notes how many allocations are on further devices. */
void tb_allocs_note(const struct tb_allocs *a, const struct tb_run *r, struct table *t);

/* Peak bytes of a device; known: the trace has totals of the device. */
struct tb_peak {
	bool known;
	uint64_t allocated, reserved;
};

/* The peaks of allocated and of reserved bytes of a device; they can be at different times. */
struct tb_peak tb_peak_of(const struct tb_allocs *a, uint32_t device);

/* "CPU", "GPU0"; valid until the table ends. */
const char *tb_memory_device(struct table *t, uint32_t device);

#endif
