/* Decodes columns to values.  The bytes are untrusted: every length is checked before use. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")              /* gcc 12 leaves loops of unknown length scalar at -O2; clang does not */
#endif

#include "trace/columns.h"

#include <pthread.h>
#include <zstd.h>

#define PLANES 8

/* zstd state and scratch memory of one thread, reused for all columns. */
struct unpacker {
	ZSTD_DCtx *zstd;
	uint8_t *scratch;               /* the planes of one column */
	size_t cap;
};

static pthread_key_t unpacker_key;
static pthread_once_t unpacker_once = PTHREAD_ONCE_INIT;
static __thread struct unpacker *unpacker;

static void unpacker_free(void *p)
{
	struct unpacker *u = p;

	ZSTD_freeDCtx(u->zstd);
	free(u->scratch);
	free(u);
}

static void make_key(void)
{
	pthread_key_create(&unpacker_key, unpacker_free);
}

static struct unpacker *own_unpacker(void)
{
	if (!unpacker) {
		struct unpacker *u = calloc(1, sizeof *u);

		pthread_once(&unpacker_once, make_key);
		if (u)
			u->zstd = ZSTD_createDCtx();
		if (!u || !u->zstd || pthread_setspecific(unpacker_key, u)) {
			if (u)
				unpacker_free(u);
			return NULL;
		}
		unpacker = u;
	}
	return unpacker;
}

/* The thread's unpacker with room for n bytes, or NULL. */
static struct unpacker *unpacker_with(size_t n)
{
	struct unpacker *u = own_unpacker();

	if (u && u->cap < n) {
		free(u->scratch);
		u->cap = 0;
		u->scratch = malloc(n);
		if (!u->scratch)
			return NULL;
		u->cap = n;
	}
	return u;
}

/* Finds column id and its stored bytes.  1: found; 0: no such column; -1: damaged (the columns do not fill the body exactly). */
static int find(const uint8_t *body, size_t size, unsigned n_columns, unsigned id, struct column *found,
		struct cursor *data)
{
	size_t at = (size_t)n_columns * sizeof *found;
	int rc = 0;

	if (size < at)
		return -1;
	for (unsigned i = 0; i < n_columns; i++) {
		struct column c;

		memcpy(&c, body + i * sizeof c, sizeof c);
		if (c.stored > size - at)
			return -1;
		if (c.id == id && !rc) {
			*found = c;
			*data = (struct cursor){ body + at, body + at + c.stored, false };
			rc = 1;
		}
		at += c.stored;
	}
	return at == size ? rc : -1;
}

/* The n bytes of the next plane, in place or decompressed into room; NULL: the plane has another size or is damaged. */
static const uint8_t *next_plane(struct cursor *c, ZSTD_DCtx *zstd, uint8_t *room, size_t n)
{
	uint64_t head = cursor_varint(c);
	const uint8_t *p = cursor_bytes(c, head >> 1);

	if (!p)
		return NULL;
	if (head & 1)
		return ZSTD_decompressDCtx(zstd, room, n, p, head >> 1) == n ? room : NULL;
	return head >> 1 == n ? p : NULL;
}

static inline __attribute__((always_inline)) void put_value(void *out, size_t i, uint64_t v, unsigned size)
{
	if (size == 8)
		((uint64_t *)out)[i] = v;
	else
		((uint32_t *)out)[i] = (uint32_t)v;
}

/* out[i] = base + the number joined from the planes' bytes.  Inlined into each case of join(): width and size become constants. */
static inline __attribute__((always_inline))
void join_as(void *restrict out, const uint8_t *const *p, size_t n, uint64_t base, unsigned width, unsigned size)
{
	const uint8_t *restrict p0 = p[0], *restrict p1 = p[1], *restrict p2 = p[2], *restrict p3 = p[3];

	for (size_t i = 0; i < n; i++) {
		uint32_t x = 0;

		if (width > 0)
			x = p0[i];
		if (width > 1)
			x |= (uint32_t)p1[i] << 8;
		if (width > 2)
			x |= (uint32_t)p2[i] << 16;
		if (width > 3)
			x |= (uint32_t)p3[i] << 24;
		put_value(out, i, base + x, size);
	}
}

static void join_wide(uint64_t *out, const uint8_t *const *p, size_t n, uint64_t base, unsigned width)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t x = 0;

		for (unsigned k = 0; k < width && k < PLANES; k++)
			x |= (uint64_t)p[k][i] << 8 * k;
		out[i] = base + x;
	}
}

static void join(void *out, const uint8_t *const *p, size_t n, uint64_t base, unsigned width, unsigned size)
{
	switch (width << 4 | size) {
	case 0x04: join_as(out, p, n, base, 0, 4); break;
	case 0x14: join_as(out, p, n, base, 1, 4); break;
	case 0x24: join_as(out, p, n, base, 2, 4); break;
	case 0x34: join_as(out, p, n, base, 3, 4); break;
	case 0x44: join_as(out, p, n, base, 4, 4); break;
	case 0x08: join_as(out, p, n, base, 0, 8); break;
	case 0x18: join_as(out, p, n, base, 1, 8); break;
	case 0x28: join_as(out, p, n, base, 2, 8); break;
	case 0x38: join_as(out, p, n, base, 3, 8); break;
	case 0x48: join_as(out, p, n, base, 4, 8); break;
	default:
		join_wide(out, p, n, base, width);
	}
}

static inline uint32_t unfold32(uint32_t x)
{
	return x >> 1 ^ -(x & 1);
}

/* Converts numbers to values, in place.  lengths: the values of `duration`, for ENCODING_GAP. */
static void sum_up(void *out, size_t n, enum encoding encoding, uint64_t base, unsigned size, const uint64_t *lengths)
{
	uint64_t *wide = out, v = base;
	uint32_t *narrow = out, u = (uint32_t)base;

	if (encoding == ENCODING_SIGNED && size == 8) {
		for (size_t i = 0; i < n; i++)
			wide[i] = (uint64_t)unzigzag(wide[i]);
	} else if (encoding == ENCODING_SIGNED) {
		for (size_t i = 0; i < n; i++)
			narrow[i] = unfold32(narrow[i]);
	} else if (encoding == ENCODING_GAP) {
		for (size_t i = 0; i < n; i++) {
			v += (uint64_t)unzigzag(wide[i]);
			wide[i] = v;
			v += lengths[i];
		}
	} else if (encoding == ENCODING_DELTA && size == 8) {
		for (size_t i = 0; i < n; i++)
			wide[i] = v += (uint64_t)unzigzag(wide[i]);
	} else if (encoding == ENCODING_DELTA) {
		for (size_t i = 0; i < n; i++)
			narrow[i] = u += unfold32(narrow[i]);
	}
}

/* Joins the planes of one column to numbers in out.  0, or -1: damaged, or out of memory. */
static int decode_planes(const struct column *c, struct cursor data, void *out, size_t n, unsigned size)
{
	bool adds_up = c->encoding == ENCODING_DELTA || c->encoding == ENCODING_GAP;
	const uint8_t *planes[PLANES] = { 0 };
	struct unpacker *u;

	if (c->width > size || c->encoding >= ENCODING_BYTES)
		return -1;
	u = unpacker_with(c->width * n);
	if (!u)
		return -1;
	for (unsigned i = 0; i < c->width; i++) {
		planes[i] = next_plane(&data, u->zstd, u->scratch + i * n, n);
		if (!planes[i])
			return -1;
	}
	if (data.bad || data.p != data.end)
		return -1;
	join(out, planes, n, adds_up ? 0 : c->base, c->width, size);
	return 0;
}

/* The n values of `duration`, which a gap-encoded column is relative to; malloc'ed.  NULL: damaged, or out of memory. */
static uint64_t *decode_lengths(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, size_t n)
{
	int f = record_field(r, "duration");
	uint64_t *lengths = NULL;

	if (f >= 0 && r->fields[f].size == 8)
		lengths = malloc((n + 1) * sizeof *lengths);
	if (lengths && column_decode(body, size, n_columns, r, (unsigned)f, lengths, n) == 0)
		return lengths;
	free(lengths);
	return NULL;
}

int column_decode_known(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f,
			void *out, size_t n, const uint64_t *lengths)
{
	unsigned width = r->fields[f].size;
	struct cursor data = { 0 };
	struct column c = { 0 };
	uint64_t *own = NULL;
	int found = find(body, size, n_columns, f, &c, &data), rc = -1;

	if (found < 0)
		return -1;
	if (!found) {
		memset(out, 0, n * width);
		return 0;
	}
	if (c.encoding == ENCODING_GAP) {
		if (width != 8 || strcmp(r->fields[f].name, "start"))
			return -1;
		if (!lengths)
			lengths = own = decode_lengths(body, size, n_columns, r, n);
		if (!lengths)
			return -1;
	}
	if (decode_planes(&c, data, out, n, width) == 0) {
		sum_up(out, n, c.encoding, c.base, width, lengths);
		rc = 0;
	}
	free(own);
	return rc;
}

int column_decode(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f, void *out,
		  size_t n)
{
	return column_decode_known(body, size, n_columns, r, f, out, n, NULL);
}

int column_tails(const uint8_t *body, size_t size, unsigned n_columns, size_t most, struct buf *out)
{
	struct cursor data = { 0 };
	struct column c = { 0 };
	int found = find(body, size, n_columns, COLUMN_TAIL, &c, &data);
	const uint8_t *plane;
	struct unpacker *u;

	if (found <= 0)
		return found;
	if (c.encoding != ENCODING_BYTES || c.width != 1 || c.base > most)
		return -1;
	u = unpacker_with(c.base);
	plane = u ? next_plane(&data, u->zstd, u->scratch, c.base) : NULL;
	if (!plane || data.p != data.end)
		return -1;
	buf_put(out, plane, c.base);
	return out->oom ? -1 : 0;
}
