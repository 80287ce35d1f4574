/* --record-raw: activity buffers as CUPTI gave them, for replay where there is no GPU. */
#ifndef INJECT_CUPTI_RAW_H
#define INJECT_CUPTI_RAW_H

#include <stddef.h>
#include <stdint.h>

/* Appends one buffer to FOLDER/PID.gpraw; counted when that cannot be. */
void cupti_raw_append(uint8_t *buffer, size_t size, size_t valid, uint64_t dropped);

/* The head of each buffer in the file; cupti_raw.c has the format. */
struct raw_head {
	char magic[8];                  /* "GPRAWBUF" */
	uint64_t length;                /* of all that belongs to this buffer, this head included */
	uint64_t sequence;              /* in this process, from 1 */
	uint32_t version;               /* cuptiGetVersion() */
	uint32_t thread;                /* kernel id of the thread that CUPTI delivered it on */
	int64_t requested;              /* when CUPTI asked for the buffer, REALTIME ns */
	int64_t completed, completed_mono; /* when it gave it back, REALTIME and MONOTONIC ns */
	uint64_t size, valid;           /* of the buffer, and of its records */
	uint64_t dropped;               /* records that CUPTI said it dropped since the buffer before */
	uint32_t n_records, n_strings;
	uint32_t truncated;             /* 1: index or strings are not complete */
	int32_t end;                    /* what cuptiActivityGetNextRecord() answered behind the last record */
};

struct raw_record {
	uint32_t offset, kind, size, reserved;  /* in the buffer; size: to the next record or the end */
};

struct raw_string {
	uint64_t pointer;               /* as it stands in records */
	uint32_t length, reserved;      /* the bytes follow, padded to 8, without a terminating zero */
};

#endif
