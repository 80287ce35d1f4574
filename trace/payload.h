/*
 * Where the values of an NVTX payload lie: the guest looks for strings behind pointers, the reader decodes.  Numbers
 * are those of nvToolsExtPayload.h; sizes are those of 64-bit Linux, where the program ran.
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
	PAYLOAD_STATIC_ID = 1 << 24,            /* ids of schemas begin here */
};
#define PAYLOAD_DYNAMIC_ID (1ull << 32)         /* and those that we give out, here */

enum payload_schema {
	PAYLOAD_IS_STATIC = 1, PAYLOAD_IS_DYNAMIC, PAYLOAD_IS_UNION, PAYLOAD_IS_UNION_INSIDE, PAYLOAD_IS_ENUM = 100
};

struct payload_entry {
	uint64_t flags, type, detail, offset;
};

/* size 0: a type that is not known. */
struct payload_shape {
	uint32_t size, align;
};

/* One value, or array of values, that lies in the payload. */
struct payload_value {
	size_t entry;                   /* position of its entry */
	size_t offset, size, count;     /* of the first element; bytes of one; how many.  All of it is in the data */
	bool array;
	bool pointer;                   /* what lies there is the address of a string, or the handle of one */
};

/* A schema as walked. */
struct payload_layout {
	const struct payload_entry *entries;
	size_t n;
	uint32_t pack;                  /* highest alignment; 0: natural */
	/* Shape of a schema or enumeration by its id; NULL, or size 0: not known. */
	struct payload_shape (*shape)(void *arg, uint64_t id);
	void *arg;
};

/* Of a predefined type; size 0 for strings, schemas and what is not known. */
struct payload_shape payload_predefined(uint64_t type);

/*
 * Calls visit for each entry whose value lies whole in the data; stops behind the first whose size cannot be told,
 * unless later ones have offsets of their own.
 */
void payload_walk(const struct payload_layout *l, const uint8_t *data, size_t len,
		  void (*visit)(void *arg, const struct payload_value *v), void *arg);

/* Size and alignment of a schema whose entries all have a fixed size; size 0 otherwise. */
struct payload_shape payload_shape_of(const struct payload_layout *l);

#endif
