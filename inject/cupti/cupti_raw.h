/* --record-raw: stores activity buffers as CUPTI delivered them, for replay without a GPU. */
#ifndef INJECT_CUPTI_CUPTI_RAW_H
#define INJECT_CUPTI_CUPTI_RAW_H

#include <stddef.h>
#include <stdint.h>

/* Appends one buffer to FOLDER/PID.gpraw; a failure is reported in health.  Any thread. */
void cupti_raw_append(uint8_t *buffer, size_t size, size_t valid, uint64_t dropped);

/* Head of each buffer in the file; cupti_raw.c describes the format. */
struct raw_head {
	char magic[8];                  /* "GPRAWBUF" */
	uint64_t length;                /* bytes of everything stored for this buffer, with this head */
	uint64_t sequence;              /* in this process, from 1 */
	uint32_t version;               /* cuptiGetVersion() */
	uint32_t thread;                /* kernel id of the thread on which CUPTI delivered it */
	int64_t requested;              /* REALTIME ns when CUPTI asked for the buffer; 0: unknown */
	int64_t completed, completed_mono; /* when CUPTI delivered it, REALTIME and MONOTONIC ns */
	uint64_t size, valid;           /* bytes of the buffer, and of its records */
	uint64_t dropped;               /* records that CUPTI dropped since the previous buffer */
	uint32_t n_records, n_strings;
	uint32_t truncated;             /* 1: index or strings are incomplete */
	int32_t end;                    /* answer of cuptiActivityGetNextRecord() after the last record */
};

struct raw_record {
	uint32_t offset, kind, size, reserved;  /* offset in the buffer; size: to the next record or the end */
};

struct raw_string {
	uint64_t pointer;               /* pointer as the records contain it */
	uint32_t length, reserved;      /* the bytes follow, padded to 8, without a terminating zero */
};

#endif
