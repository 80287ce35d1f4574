/* Record types: row structs and the table that describes them, generated from records.def.  Knows records, not files. */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

enum codec { CODEC_PLAIN, CODEC_DELTA, CODEC_SIGNED };

enum unit {
	UNIT_NONE,
	UNIT_HEX,               /* bits; shown in hexadecimal */
	UNIT_BYTES,
	UNIT_TIME,              /* in a row: ticks of the process's clock (TSC or MONOTONIC); from the reader: ns of trace time */
	UNIT_SPAN,              /* a length on the clock of UNIT_TIME, beginning at the field `start` of the same row */
	UNIT_GTIME,             /* in a row: CUPTI's clock, CLOCK_REALTIME ns; from the reader: ns of trace time.  0 stays 0 */
	UNIT_GSPAN,             /* a length on the clock of UNIT_GTIME */
	UNIT_LEN,               /* length of the row's tail */
	UNIT_STRING, UNIT_THREAD, UNIT_CONFIG, UNIT_DEVICE, UNIT_CONTEXT, UNIT_STREAM, UNIT_DOMAIN, UNIT_RANGE, UNIT_PROCESS,
	N_UNITS
};

/* ROW_kernel, ...: record ids, as in arenas and on disk. */
enum record_kind {
	ROW_none,
#define FIELD(rec, type, member, codec, unit, doc)
#define RECORD(id, name, doc, fields) ROW_##name = id,
#include "trace/records.def"
#undef RECORD
#undef FIELD
	ROW_KINDS = 256         /* kinds fit a byte, so a table indexed by kind has this size */
};

/* struct kernel_row { int64_t start; ... }; and so on for each record. */
#define FIELD(rec, type, member, codec, unit, doc) type member;
#define RECORD(id, name, doc, fields) struct name##_row { fields };
#include "trace/records.def"
#undef RECORD
#undef FIELD

/* COL_kernel_start, COL_kernel_duration, ...: positions of fields, which are column ids on disk. */
#define FIELD(rec, type, member, codec, unit, doc) COL_##rec##_##member,
#define RECORD(id, name, doc, fields) enum name##_field { fields N_##name##_fields };
#include "trace/records.def"
#undef RECORD
#undef FIELD

struct field {
	const char *name, *doc;
	uint16_t offset, size;          /* bytes in the row struct; size is 4 or 8 */
	uint8_t codec, unit;            /* enum codec, enum unit */
	uint8_t is_signed;
};

struct record {
	uint16_t id, size;              /* size of the row struct, a multiple of 8 */
	uint16_t n_fields;
	int16_t len_field;              /* position of the field of unit LEN; -1: rows have no tail */
	const char *name, *doc;
	const struct field *fields;
};

/* All n_records record types, in the order of records.def. */
extern const struct record records[];
extern const size_t n_records;

/* The record type with this id, or NULL if unknown. */
const struct record *record_by_kind(unsigned kind);

/* Position of the field with this name, or -1. */
int record_field(const struct record *r, const char *name);

/* The value of field f of a row; signed fields are sign-extended to 64 bits. */
uint64_t field_load(const struct field *f, const void *row);

/* Stores the low bits of value in field f of a row. */
void field_store(const struct field *f, void *row, uint64_t value);

#define SYMBOL_UNNAMED   1u     /* symbol.flags */

#define DEVICE_MIG       1u     /* device.flags */
#define DEVICE_VISIBLE   2u
#define DEVICE_KNOWN     4u
#define RANGE_STARTEND   1u     /* range.flags */
#define RANGE_INCOMPLETE 2u
#define RANGE_WHOLE      4u
#define MEMCPY_ASYNC     1u     /* memcpy.flags */
#define MEMCPY_PEER      2u
#define BYTES_UNKNOWN    UINT64_MAX      /* memcpy.bytes, memset.bytes; readers take any size above INT64_MAX as unknown */
#define MEMORY_ASYNC     1u     /* memory.flags */
#define MEMORY_IMPORTED  2u
#define STREAM_NONE      0xffffffffu
#define RESOURCE_KNOWN   1u     /* resource.flags */
#define RESOURCE_GONE    2u
#define STEP_INCOMPLETE  1u     /* step.flags */
#define STEP_WARMUP      2u
#define STEP_AUTO        4u
#define STEP_LATE        8u
#define STEP_LOOSE       16u
#define STEP_BATCH       32u
#define WINDOW_INCOMPLETE 1u    /* window.flags */
#define STACK_NATIVE     1u     /* stack.flags */
#define STACK_PYTHON     2u
#define STACK_CUT        4u
#define STACK_INCOMPLETE 8u
#define STACK_SITE       16u
#define SAMPLE_CPU       1u     /* sample.flags */
#define SAMPLE_WALL      2u
#define SAMPLE_INSIDE    4u     /* gprof-run's own code was interrupted: no stack */
#define IMPORTED_STREAM      1u /* imported.flags */
#define IMPORTED_CORRELATION 2u
#define IMPORTED_ENDLESS     4u
#define IMPORTED_NEGATIVE    8u
#define IMPORTED_EXTERNAL    16u
#define ARG_WHOLE        1u     /* imported_arg.type */
#define ARG_DOUBLE       2u
#define ARG_TEXT         3u
#define ARG_JSON         4u
#define ALLOC_TOTALS     1u     /* alloc.flags */
#define SOURCE_CUT       1u     /* source.flags */
#define SOURCE_CHANGED   2u

/* A frame of a call stack; the tail of a stack row is an array of frames. */
struct stack_frame {
	uint64_t value;                 /* native: address of the call.  Python: id of the code row */
	uint32_t what;                  /* STACK_FRAME_ below */
	uint32_t extra;                 /* native: id of the image, 0: none.  Python: byte offset of the instruction, or STACK_NO_OFFSET */
};

#define STACK_FRAME_NATIVE 0u
#define STACK_FRAME_PYTHON 1u
#define STACK_NO_OFFSET    0xffffffffu  /* unknown; readers show the code's first line */

#endif
