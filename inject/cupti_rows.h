/* One activity record -> one row. */
#ifndef INJECT_CUPTI_ROWS_H
#define INJECT_CUPTI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/stream.h"

#define CUPTI_MEMOS 128u

/* A kernel's name and launch configuration repeat; looking them up by pointer saves hashing both for each launch. */
struct cupti_memo {
	uint64_t name;                  /* CUPTI's pointer */
	uint32_t name_id;
	struct config_row config;       /* id 0: this place is empty */
};

/*
 * One pass over a buffer.  The memos live no longer than that: names are CUPTI's memory, and a pointer may stand for another name after
 * a module was unloaded, but not while records that use it are in our hands.
 */
struct cupti_pass {
	struct stream *s;               /* NULL: rows can only be counted */
	uint64_t unknown, zero_times;   /* counted so far */
	bool gpu;                       /* a row of GPU work was written */
	bool given;                     /* records go on to the program's own profiler: what they point to is not freed here */
	struct cupti_memo memos[CUPTI_MEMOS];
};

/* Only what must be; the memos are many. */
void cupti_pass_init(struct cupti_pass *p, struct stream *s);

/* size: to the next record, or to the end of the buffer. */
void cupti_pass_record(struct cupti_pass *p, const uint8_t *record, size_t size);

/* Frees what a record hands over to its reader. */
void cupti_record_release(const uint8_t *record, size_t size);

/* The kind of row that records of an activity kind become; ROW_none: we do not read them. */
unsigned cupti_row_kind(uint32_t kind);

#endif
