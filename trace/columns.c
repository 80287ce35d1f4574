/* Rows -> columns.  The way back is columns_decode.c. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")              /* gcc 12 leaves loops of unknown length scalar at -O2; clang does not */
#endif

#include "trace/columns.h"

#include <zstd.h>

/*
 * Level 1, with a longer shortest match and a smaller table than its own: bytes of numbers are noise or long
 * repetitions, and looking for matches of 5 bytes in noise took a third of the time and saved nothing (kernels of the
 * bench: 22 ns -> 16 ns a row, same size).
 */
#define ZSTD_LEVEL      1
#define PLANE_MATCH     7
#define PLANE_HASH_LOG  12
#define ZSTD_WORTH      32              /* bytes; a frame costs 9 at least, so less gains nothing to speak of */
#define SAMPLE_EVERY    64              /* rows looked at to choose between differences and gaps */

struct packer {
	ZSTD_CCtx *zstd;
	void *scratch;                  /* one column: n numbers of 8 bytes, then up to 8 planes of n bytes */
	size_t cap;
};

static int packer_tune(struct packer *p, int match, int hash_log)
{
	return ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
	       ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, match)) ||
	       ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_hashLog, hash_log)) ? -1 : 0;
}

struct packer *packer_new(void)
{
	struct packer *p = calloc(1, sizeof *p);

	if (p)
		p->zstd = ZSTD_createCCtx();
	if (!p || !p->zstd || packer_tune(p, PLANE_MATCH, PLANE_HASH_LOG) < 0) {
		packer_free(p);
		return NULL;
	}
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->scratch);
	free(p);
}

static int packer_reserve(struct packer *p, size_t n)
{
	if (p->cap < n) {
		free(p->scratch);
		p->cap = 0;
		p->scratch = malloc(n);
		if (!p->scratch)
			return -1;
		p->cap = n;
	}
	return 0;
}

static inline __attribute__((always_inline)) uint64_t load(const char *p, unsigned size)
{
	uint64_t v;
	uint32_t u;

	if (size == 8) {
		memcpy(&v, p, 8);
		return v;
	}
	memcpy(&u, p, 4);
	return u;
}

/* zigzag() of a number of `size` bytes */
static inline __attribute__((always_inline)) uint64_t fold(uint64_t v, unsigned size)
{
	return size == 8 ? zigzag((int64_t)v) : (uint32_t)((uint32_t)v << 1 ^ (uint32_t)((int32_t)v >> 31));
}

/*
 * The numbers x of one column; returns the bits in which any differs from the first.  Inlined into each case of
 * gather(), so that encoding and size are constants in the loop.  lengths: distance to the field `duration`, for
 * ENCODING_GAP.
 */
static inline __attribute__((always_inline))
uint64_t gather_as(uint64_t *x, const char *at, size_t stride, size_t n, enum encoding encoding, unsigned size,
		   ptrdiff_t lengths)
{
	bool differences = encoding == ENCODING_DELTA || encoding == ENCODING_GAP;
	uint64_t prev = load(at, size), first = 0, bits = 0;

	if (!differences)
		first = encoding == ENCODING_SIGNED ? fold(prev, size) : prev;
	x[0] = first;
	if (encoding == ENCODING_GAP)
		prev += load(at + lengths, size);
	at += stride;
	for (size_t i = 1; i < n; i++, at += stride) {
		uint64_t v = load(at, size), number = v;

		if (differences)
			number = fold(v - prev, size);
		else if (encoding == ENCODING_SIGNED)
			number = fold(v, size);
		bits |= number ^ first;
		x[i] = number;
		prev = v;
		if (encoding == ENCODING_GAP)
			prev += load(at + lengths, size);
	}
	return bits;
}

static uint64_t gather(uint64_t *x, const char *at, size_t stride, size_t n, enum encoding encoding, unsigned size,
		       ptrdiff_t lengths)
{
	bool wide = size == 8;

	switch (encoding) {
	case ENCODING_GAP:
		return gather_as(x, at, stride, n, ENCODING_GAP, 8, lengths);
	case ENCODING_DELTA:
		return wide ? gather_as(x, at, stride, n, ENCODING_DELTA, 8, 0)
			    : gather_as(x, at, stride, n, ENCODING_DELTA, 4, 0);
	case ENCODING_SIGNED:
		return wide ? gather_as(x, at, stride, n, ENCODING_SIGNED, 8, 0)
			    : gather_as(x, at, stride, n, ENCODING_SIGNED, 4, 0);
	default:
		return wide ? gather_as(x, at, stride, n, ENCODING_PLAIN, 8, 0)
			    : gather_as(x, at, stride, n, ENCODING_PLAIN, 4, 0);
	}
}

/* Columns of several values mostly show it in their first rows: this costs a whole pass only where it saves one. */
static bool all_equal(const char *at, unsigned size, size_t stride, size_t n)
{
	const char *end = at + n * stride;
	uint64_t first = load(at, size);

	if (size == 8) {
		for (; at < end; at += stride)
			if (load(at, 8) != first)
				return false;
	} else {
		for (; at < end; at += stride)
			if (load(at, 4) != first)
				return false;
	}
	return true;
}

/* Appends bytes, through zstd if that makes them fewer. */
static int put_plane(struct packer *p, struct buf *out, const uint8_t *bytes, size_t n)
{
	size_t bound = n >= ZSTD_WORTH ? ZSTD_compressBound(n) : n, got = n;
	uint8_t *room = buf_room(out, bound + 20), *at;
	size_t head;

	if (!room)
		return -1;
	/* Its length stands before it and is not known yet: a frame is made 10 bytes further on and moved back. */
	if (n >= ZSTD_WORTH)
		got = ZSTD_compress2(p->zstd, room + 10, bound, bytes, n);
	if (got < n) {                  /* an error is a huge number, and the bytes then go as they are */
		at = varint_put(room, (uint64_t)got << 1 | 1);
		memmove(at, room + 10, got);
	} else {
		got = n;
		at = varint_put(room, (uint64_t)got << 1);
		memcpy(at, bytes, got);
	}
	head = (size_t)(at - room);
	out->len += head + got;
	return 0;
}

static unsigned bytes_of(uint64_t bits)
{
	return bits ? (unsigned)(71 - __builtin_clzll(bits)) / 8 : 0;
}

static unsigned bits_of(uint64_t v)
{
	return v ? (unsigned)(64 - __builtin_clzll(v)) : 0;
}

/* Are starts nearer to the end of the row before than to its start?  Queued work is; what overlaps is not. */
static bool gaps_are_smaller(const char *at, ptrdiff_t lengths, size_t stride, size_t n)
{
	uint64_t gap = 0, delta = 0;

	for (size_t i = 1; i < n; i += SAMPLE_EVERY) {
		const char *row = at + i * stride;
		uint64_t d = load(row, 8) - load(row - stride, 8);

		delta += bits_of(zigzag((int64_t)d));
		gap += bits_of(zigzag((int64_t)(d - load(row - stride + lengths, 8))));
	}
	return gap < delta;
}

static enum encoding choose(const struct record *r, const struct field *f, const char *at, size_t n, ptrdiff_t *lengths)
{
	int duration = record_field(r, "duration");

	if (f->codec == CODEC_SIGNED)
		return ENCODING_SIGNED;
	if (f->codec == CODEC_PLAIN)
		return ENCODING_PLAIN;
	if (f->size == 8 && strcmp(f->name, "start") == 0 && duration >= 0 && r->fields[duration].size == 8) {
		*lengths = (ptrdiff_t)r->fields[duration].offset - f->offset;
		if (gaps_are_smaller(at, *lengths, r->size, n))
			return ENCODING_GAP;
	}
	return ENCODING_DELTA;
}

/* One field of all rows.  1, 0 when it is left out, or -1 when out of memory. */
static int put_field(struct packer *p, struct buf *out, struct column *c, const struct record *r, const struct field *f,
		     const char *rows, size_t n)
{
	uint64_t *x = p->scratch, bits = 0;
	uint8_t *plane = (uint8_t *)(x + n);
	const char *at = rows + f->offset;
	size_t start = out->len;
	ptrdiff_t lengths = 0;

	c->encoding = ENCODING_PLAIN;
	c->base = load(at, f->size);
	if (!all_equal(at, f->size, r->size, n)) {
		c->encoding = (uint8_t)choose(r, f, at, n, &lengths);
		bits = gather(x, at, r->size, n, c->encoding, f->size, lengths);
	} else if (!c->base) {
		return 0;
	}
	c->width = (uint8_t)bytes_of(bits);
	if (c->encoding == ENCODING_SIGNED)
		c->base = x[0];
	if (c->encoding == ENCODING_PLAIN || c->encoding == ENCODING_SIGNED)
		c->base = c->width == 8 ? 0 : c->base >> 8 * c->width << 8 * c->width;
	for (unsigned shift = 0; shift < 8u * c->width; shift += 8) {
		for (size_t i = 0; i < n; i++)
			plane[i] = (uint8_t)(x[i] >> shift);
		if (put_plane(p, out, plane, n) < 0)
			return -1;
	}
	c->stored = (uint32_t)(out->len - start);
	return 1;
}

/* Text is not numbers: zstd as it is. */
static int put_tails(struct packer *p, struct buf *out, struct column *c, const uint8_t *tails, size_t n)
{
	size_t start = out->len;
	int rc;

	*c = (struct column){ .id = COLUMN_TAIL, .encoding = ENCODING_BYTES, .width = 1, .base = n };
	packer_tune(p, 0, 0);
	rc = put_plane(p, out, tails, n);
	packer_tune(p, PLANE_MATCH, PLANE_HASH_LOG);
	c->stored = (uint32_t)(out->len - start);
	return rc;
}

int columns_encode(struct packer *p, struct buf *out, const struct record *r, const void *rows, size_t n,
		   const uint8_t *tails, size_t tail_bytes)
{
	struct column columns[256];     /* more than any record has fields */
	size_t start = out->len, room = (r->n_fields + 1u) * sizeof *columns;
	int count = 0;

	if (packer_reserve(p, n * 16) < 0 || !buf_room(out, room))
		return -1;
	/* The columns go behind the largest possible directory and are moved down to the real one. */
	out->len += room;
	for (unsigned i = 0; n && i < r->n_fields; i++) {
		struct column *c = &columns[count];
		int put;

		*c = (struct column){ .id = (uint16_t)i };
		put = put_field(p, out, c, r, &r->fields[i], rows, n);
		if (put < 0)
			return -1;
		count += put;
	}
	if (tail_bytes && put_tails(p, out, &columns[count++], tails, tail_bytes) < 0)
		return -1;
	size_t used = (size_t)count * sizeof *columns;

	memmove(out->data + start + used, out->data + start + room, out->len - start - room);
	memcpy(out->data + start, columns, used);
	out->len -= room - used;
	return count;
}
