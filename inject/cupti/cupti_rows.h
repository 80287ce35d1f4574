/* Turns one activity record into one row. */
#ifndef INJECT_CUPTI_CUPTI_ROWS_H
#define INJECT_CUPTI_CUPTI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/core/stream.h"

#define CUPTI_KERNELS_CACHED 128u

/* Cache of kernel names and launch configurations by CUPTI's pointer to the name: a hit saves hashing both. */
struct cupti_cached_kernel {
	uint64_t name;                  /* CUPTI's pointer */
	uint32_t name_id;
	struct config_row config;       /* id 0: empty entry */
};

/*
 * One pass over a buffer, on one thread.  Cached kernels live only as long: names are in CUPTI's memory, and after a module was
 * unloaded a pointer may stand for another name, but not while records that use it are being read.
 */
struct cupti_pass {
	struct stream *s;               /* NULL: records are only counted as dropped */
	uint64_t unknown, zero_times, device_kernels;   /* counted so far */
	bool gpu;                       /* a row of GPU work was written */
	bool given;                     /* records are copied for the client too: do not free what they point to */
	struct cupti_cached_kernel kernels[CUPTI_KERNELS_CACHED];
};

/* Initialises a pass, but clears only the ids of the cached kernels: there are many. */
void cupti_pass_init(struct cupti_pass *p, struct stream *s);

/* Writes the row of one record, or counts the record.  size: bytes to the next record, or to the end of the buffer. */
void cupti_pass_record(struct cupti_pass *p, const uint8_t *record, size_t size);

/* Frees memory that a record hands over to its reader. */
void cupti_record_release(const uint8_t *record, size_t size);

/* Row kind (ROW_) for an activity kind; ROW_none: records of this kind become no rows. */
unsigned cupti_row_kind(uint32_t kind);

#endif
