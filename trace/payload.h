/*
 * Layout of NVTX payloads.  The guest uses it to find strings behind pointers, the reader to decode values.  Constants are those of
 * nvToolsExtPayload.h; sizes and alignments are those of 64-bit Linux.
 */
#ifndef TRACE_PAYLOAD_H
#define TRACE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MAX      256u           /* bytes kept of a payload */
#define PAYLOAD_TEXT_MAX 255u           /* bytes kept of a string that it points to */

#define PAYLOAD_POINTER  (1u << 1)      /* entry flags */
#define PAYLOAD_FROM_BASE (1u << 2)
#define PAYLOAD_FROM_HERE (1u << 3)
#define PAYLOAD_ARRAY    (7u << 4)
#define PAYLOAD_FIXED    (1u << 4)
#define PAYLOAD_ZERO     (2u << 4)
#define PAYLOAD_LENGTH   (3u << 4)
#define PAYLOAD_HIDE     (1u << 9)
#define PAYLOAD_MESSAGE  (1u << 10)

enum payload_type {
	PAYLOAD_CHAR = 1, PAYLOAD_UCHAR, PAYLOAD_SHORT, PAYLOAD_USHORT, PAYLOAD_INT, PAYLOAD_UINT, PAYLOAD_LONG,
	PAYLOAD_ULONG, PAYLOAD_LONGLONG, PAYLOAD_ULONGLONG, PAYLOAD_INT8, PAYLOAD_UINT8, PAYLOAD_INT16, PAYLOAD_UINT16,
	PAYLOAD_INT32, PAYLOAD_UINT32, PAYLOAD_INT64, PAYLOAD_UINT64, PAYLOAD_FLOAT, PAYLOAD_DOUBLE, PAYLOAD_LONGDOUBLE,
	PAYLOAD_SIZE, PAYLOAD_ADDRESS, PAYLOAD_WCHAR, PAYLOAD_CHAR8, PAYLOAD_CHAR16, PAYLOAD_CHAR32,
	PAYLOAD_BYTE = 32, PAYLOAD_INT128, PAYLOAD_UINT128,
	PAYLOAD_FLOAT16 = 42, PAYLOAD_FLOAT32, PAYLOAD_FLOAT64, PAYLOAD_FLOAT128,
	PAYLOAD_BF16 = 50, PAYLOAD_TF32 = 52,
	PAYLOAD_CATEGORY = 68, PAYLOAD_COLOR, PAYLOAD_SCOPE, PAYLOAD_PID32, PAYLOAD_PID64, PAYLOAD_TID32,
	PAYLOAD_TID64,
	PAYLOAD_CSTRING, PAYLOAD_UTF8, PAYLOAD_UTF16, PAYLOAD_UTF32,
	PAYLOAD_REGISTERED = 80,
	PAYLOAD_SELECTOR = 100,
	PAYLOAD_REFERENCED = 1022, PAYLOAD_RAW,
	PAYLOAD_STATIC_ID = 1 << 24,            /* first schema id of the program */
};
#define PAYLOAD_DYNAMIC_ID (1ull << 32)         /* first schema id given out by gprof-run */

enum payload_schema {
	PAYLOAD_IS_STATIC = 1, PAYLOAD_IS_DYNAMIC, PAYLOAD_IS_UNION, PAYLOAD_IS_UNION_INSIDE, PAYLOAD_IS_ENUM = 100
};

struct payload_entry {
	uint64_t flags, type, detail, offset;
};

/* Size and alignment in bytes; size 0: unknown type. */
struct payload_shape {
	uint32_t size, align;
};

/* A value, or an array of values, inside the payload. */
struct payload_value {
	size_t entry;                   /* position of its entry in the schema */
	size_t offset, size, count;     /* offset of the first element; bytes of an element; number of elements.  All lie inside the data */
	bool array;
	bool pointer;                   /* the value is the address or the handle of a string */
};

/* The schema that payload_walk() follows. */
struct payload_layout {
	const struct payload_entry *entries;
	size_t n;
	uint32_t pack;                  /* highest alignment; 0: natural */
	/* Returns the shape of a schema or enumeration by its id; size 0: unknown.  shape may be NULL: all are unknown. */
	struct payload_shape (*shape)(void *arg, uint64_t id);
	void *arg;
};

/* Shape of a predefined type; size 0 for strings, schemas and unknown types. */
struct payload_shape payload_predefined(uint64_t type);

/*
 * Calls visit for each entry whose value lies completely inside the data.  Behind an entry of unknown size, only entries with an explicit
 * offset are visited.
 */
void payload_walk(const struct payload_layout *l, const uint8_t *data, size_t len,
		  void (*visit)(void *arg, const struct payload_value *v), void *arg);

/* Shape of a schema whose entries all have a fixed size; size 0 for any other schema. */
struct payload_shape payload_shape_of(const struct payload_layout *l);

#endif
