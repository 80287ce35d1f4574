#include "trace/payload.h"

#include <string.h>

#define UNKNOWN SIZE_MAX

struct payload_shape payload_predefined(uint64_t type)
{
	static const uint8_t sizes[] = {
		[PAYLOAD_CHAR] = 1, [PAYLOAD_UCHAR] = 1, [PAYLOAD_SHORT] = 2, [PAYLOAD_USHORT] = 2, [PAYLOAD_INT] = 4,
		[PAYLOAD_UINT] = 4,
		[PAYLOAD_LONG] = 8, [PAYLOAD_ULONG] = 8, [PAYLOAD_LONGLONG] = 8, [PAYLOAD_ULONGLONG] = 8,
		[PAYLOAD_INT8] = 1,
		[PAYLOAD_UINT8] = 1, [PAYLOAD_INT16] = 2, [PAYLOAD_UINT16] = 2, [PAYLOAD_INT32] = 4,
			[PAYLOAD_UINT32] = 4,
		[PAYLOAD_INT64] = 8, [PAYLOAD_UINT64] = 8, [PAYLOAD_FLOAT] = 4, [PAYLOAD_DOUBLE] = 8,
			[PAYLOAD_LONGDOUBLE] = 16,
		[PAYLOAD_SIZE] = 8, [PAYLOAD_ADDRESS] = 8, [PAYLOAD_WCHAR] = 4, [PAYLOAD_CHAR8] = 1,
		[PAYLOAD_CHAR16] = 2,
		[PAYLOAD_CHAR32] = 4, [PAYLOAD_BYTE] = 1, [PAYLOAD_INT128] = 16, [PAYLOAD_UINT128] = 16,
			[PAYLOAD_FLOAT16] = 2,
		[PAYLOAD_FLOAT32] = 4, [PAYLOAD_FLOAT64] = 8, [PAYLOAD_FLOAT128] = 16, [PAYLOAD_BF16] = 2,
			[PAYLOAD_TF32] = 4,
		[PAYLOAD_CATEGORY] = 4, [PAYLOAD_COLOR] = 4, [PAYLOAD_SCOPE] = 8, [PAYLOAD_PID32] = 4,
		[PAYLOAD_PID64] = 8,
		[PAYLOAD_TID32] = 4, [PAYLOAD_TID64] = 8, [PAYLOAD_REGISTERED] = 8, [PAYLOAD_SELECTOR] = 1,
	};
	uint8_t size = type < sizeof sizes ? sizes[type] : 0;

	return (struct payload_shape){ size, size };
}

static bool is_text(uint64_t type)
{
	return type >= PAYLOAD_CSTRING && type <= PAYLOAD_UTF32;
}

static uint32_t char_size(uint64_t type)
{
	return type == PAYLOAD_UTF16 ? 2 : type == PAYLOAD_UTF32 ? 4 : 1;
}

/* Whether the payload holds an address instead of the value.  A string without a length is a `char *`. */
static bool is_pointer(const struct payload_entry *e)
{
	if (e->flags & (PAYLOAD_POINTER | PAYLOAD_FROM_BASE | PAYLOAD_FROM_HERE))
		return true;
	return e->type == PAYLOAD_REGISTERED || (is_text(e->type) && !e->detail && !(e->flags & PAYLOAD_ARRAY));
}

/* Shape of one element in the payload. */
static struct payload_shape element(const struct payload_layout *l, const struct payload_entry *e)
{
	if (is_pointer(e))
		return (struct payload_shape){ 8, 8 };
	if (is_text(e->type))
		return (struct payload_shape){ char_size(e->type), char_size(e->type) };
	if (e->type >= PAYLOAD_STATIC_ID)
		return l->shape ? l->shape(l->arg, e->type) : (struct payload_shape){ 0, 0 };
	return payload_predefined(e->type);
}

static uint64_t load(const uint8_t *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size < 8 ? size : 8);
	return v;
}

/* Number of elements up to and including the first zero element; UNKNOWN: none in the data. */
static size_t until_zero(const uint8_t *data, size_t len, size_t offset, size_t size)
{
	size_t n = 0;

	for (; offset + size <= len; offset += size) {
		bool zero = true;

		for (size_t i = 0; i < size; i++)
			zero &= !data[offset + i];
		n++;
		if (zero)
			return n;
	}
	return UNKNOWN;
}

/* State of a walk: the offsets of integer entries so far, which can be lengths of later arrays. */
struct payload_walk {
	const struct payload_layout *l;
	const uint8_t *data;
	size_t len;
	uint32_t seen[64];              /* offsets; 32 bits suffice, place() checks */
	uint8_t seen_size[64];
};

static size_t count_of(struct payload_walk *w, const struct payload_entry *e, size_t offset, size_t size)
{
	bool text = is_text(e->type);

	if (is_pointer(e))
		return 1;
	switch (e->flags & PAYLOAD_ARRAY) {
	case PAYLOAD_FIXED:
		return e->detail;
	case PAYLOAD_ZERO:
		return w->data && offset != UNKNOWN ? until_zero(w->data, w->len, offset, size) : UNKNOWN;
	case PAYLOAD_LENGTH:
		if (!w->data || e->detail >= 64 || !w->seen_size[e->detail])
			return UNKNOWN;
		return load(w->data + w->seen[e->detail], w->seen_size[e->detail]);
	case 0:
		return text ? e->detail : 1;
	default:
		return UNKNOWN;
	}
}

/* Computes offset and count of entry i and moves the cursor behind it.  False: offset or count is unknown. */
static bool place(struct payload_walk *w, size_t i, size_t *cursor, uint32_t *widest, struct payload_value *v)
{
	const struct payload_entry *e = &w->l->entries[i];
	struct payload_shape shape = element(w->l, e);
	uint32_t align = w->l->pack && shape.align > w->l->pack ? w->l->pack : shape.align;
	size_t at = *cursor;

	if (e->offset)
		at = e->offset;
	else if (at != UNKNOWN && align > 1)
		at = (at + align - 1) / align * align;
	*v = (struct payload_value){ i, at, shape.size, 0, false, is_pointer(e) };
	if (align > *widest)
		*widest = align;
	v->count = shape.size ? count_of(w, e, at, shape.size) : UNKNOWN;
	v->array = !v->pointer && !is_text(e->type) && e->flags & PAYLOAD_ARRAY;
	if (at == UNKNOWN || v->count == UNKNOWN || at > UINT32_MAX || v->count > UINT32_MAX / shape.size) {
		*cursor = UNKNOWN;
		return false;
	}
	*cursor = at + v->count * shape.size;
	return true;
}

void payload_walk(const struct payload_layout *l, const uint8_t *data, size_t len,
		  void (*visit)(void *arg, const struct payload_value *v), void *arg)
{
	struct payload_walk w = { .l = l, .data = data, .len = len };
	uint32_t widest = 1;
	size_t cursor = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct payload_value v;

		if (!place(&w, i, &cursor, &widest, &v) || v.offset > len || v.count * v.size > len - v.offset)
			continue;
		if (i < 64 && v.count == 1 && v.size <= 8 && !v.pointer) {
			w.seen[i] = (uint32_t)v.offset;
			w.seen_size[i] = (uint8_t)v.size;
		}
		visit(arg, &v);
	}
}

struct payload_shape payload_shape_of(const struct payload_layout *l)
{
	struct payload_walk w = { .l = l };
	uint32_t widest = 1;
	size_t cursor = 0, end = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct payload_value v;

		if (!place(&w, i, &cursor, &widest, &v))
			return (struct payload_shape){ 0, 0 };
		if (cursor > end)
			end = cursor;
	}
	end = (end + widest - 1) / widest * widest;
	return (struct payload_shape){ (uint32_t)end, widest };
}
