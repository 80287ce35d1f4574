/* Rows -> columns.  The way back is columns_decode.c. */
#include "trace/columns.h"

#include <zstd.h>

#define ZSTD_LEVEL      1
#define ZSTD_WORTH      32              /* bytes; a zstd frame costs 9 at least, so shorter columns gain nothing to speak of */
#define VARINT_MAX      10

struct packer {
	ZSTD_CCtx *zstd;
	uint8_t *scratch;               /* the varints of one column */
	size_t cap;
};

struct packer *packer_new(void)
{
	struct packer *p = calloc(1, sizeof *p);

	if (p)
		p->zstd = ZSTD_createCCtx();
	if (!p || !p->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL))) {
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

/*
 * As varint_put(), for a place with 10 bytes of room: values below 2^28 go without a branch, since the lengths within a column
 * (2 or 3 bytes for a duration) are what a branch predictor cannot know.
 */
static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	uint32_t u = (uint32_t)v, length, word;

	if (__builtin_expect(v >> 28 != 0, 0))
		return varint_put(p, v);
	length = 1 + (u >= 1u << 7) + (u >= 1u << 14) + (u >= 1u << 21);
	word = (u & 0x7f) | (u << 1 & 0x7f00) | (u << 2 & 0x7f0000) | (u << 3 & 0x7f000000);
	word |= 0x808080u & ((1u << 8 * (length - 1)) - 1);
	memcpy(p, &word, 4);
	return p + length;
}

static inline __attribute__((always_inline)) uint64_t load(const char *p, unsigned size, bool is_signed)
{
	uint64_t v;
	uint32_t u;

	if (size == 8) {
		memcpy(&v, p, 8);
		return v;
	}
	memcpy(&u, p, 4);
	return is_signed ? (uint64_t)(int64_t)(int32_t)u : u;
}

/* One column as varints.  Inlined into each case of encode(), so that codec, size and sign are constants in the loop. */
static inline __attribute__((always_inline)) uint8_t *encode_as(uint8_t *p, const char *at, size_t stride, size_t n,
								 enum codec codec, unsigned size, bool is_signed)
{
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++, at += stride) {
		uint64_t v = load(at, size, is_signed);

		if (codec == CODEC_DELTA)
			p = put_varint(p, zigzag((int64_t)(v - prev)));
		else
			p = put_varint(p, codec == CODEC_SIGNED ? zigzag((int64_t)v) : v);
		prev = v;
	}
	return p;
}

static uint8_t *encode(uint8_t *p, const struct field *f, const char *at, size_t stride, size_t n)
{
	if (f->size == 8) {
		switch (f->codec) {
		case CODEC_DELTA:
			return encode_as(p, at, stride, n, CODEC_DELTA, 8, false);
		case CODEC_SIGNED:
			return encode_as(p, at, stride, n, CODEC_SIGNED, 8, false);
		default:
			return encode_as(p, at, stride, n, CODEC_PLAIN, 8, false);
		}
	}
	switch (f->codec) {
	case CODEC_DELTA:
		return f->is_signed ? encode_as(p, at, stride, n, CODEC_DELTA, 4, true)
				    : encode_as(p, at, stride, n, CODEC_DELTA, 4, false);
	case CODEC_SIGNED:
		return encode_as(p, at, stride, n, CODEC_SIGNED, 4, true);
	default:
		return f->is_signed ? encode_as(p, at, stride, n, CODEC_PLAIN, 4, true)
				    : encode_as(p, at, stride, n, CODEC_PLAIN, 4, false);
	}
}

/* Most columns that are not of one value show it in the first rows, so this costs a whole pass only where it saves one. */
static bool all_equal(const struct field *f, const char *at, size_t stride, size_t n)
{
	const char *end = at + n * stride;
	uint64_t first = load(at, f->size, false);

	if (f->size == 8) {
		for (; at < end; at += stride)
			if (load(at, 8, false) != first)
				return false;
	} else {
		for (; at < end; at += stride)
			if (load(at, 4, false) != first)
				return false;
	}
	return true;
}

static const uint8_t encoding_of[] = {
	[CODEC_PLAIN] = ENCODING_PLAIN, [CODEC_DELTA] = ENCODING_DELTA, [CODEC_SIGNED] = ENCODING_SIGNED,
};

/* Appends raw bytes, through zstd if that makes them fewer; fills c. */
static int store(struct packer *p, struct buf *out, struct column *c, const uint8_t *raw, size_t n)
{
	c->raw = (uint32_t)n;
	if (n >= ZSTD_WORTH) {
		size_t bound = ZSTD_compressBound(n);
		uint8_t *room = buf_room(out, bound);
		size_t got = room ? ZSTD_compress2(p->zstd, room, bound, raw, n) : n;

		if (got < n) {          /* an error is a huge number, and the bytes then go as they are */
			c->encoding |= ENCODING_ZSTD;
			c->stored = (uint32_t)got;
			out->len += got;
			return 0;
		}
	}
	c->stored = (uint32_t)n;
	buf_put(out, raw, n);
	return out->oom ? -1 : 0;
}

static int store_field(struct packer *p, struct buf *out, struct column *c, const struct field *f, const char *rows,
		       size_t stride, size_t n)
{
	const char *at = rows + f->offset;
	uint8_t *end;

	if (all_equal(f, at, stride, n)) {
		end = varint_put(p->scratch, zigzag((int64_t)field_load(f, rows)));
		c->encoding = ENCODING_CONST;
	} else {
		end = encode(p->scratch, f, at, stride, n);
		c->encoding = encoding_of[f->codec];
	}
	return store(p, out, c, p->scratch, (size_t)(end - p->scratch));
}

static bool all_zero(const struct field *f, const char *rows, size_t stride, size_t n)
{
	return !field_load(f, rows) && all_equal(f, rows + f->offset, stride, n);
}

int columns_encode(struct packer *p, struct buf *out, const struct record *r, const void *rows, size_t n,
		   const uint8_t *tails, size_t tail_bytes)
{
	struct column columns[256];     /* more than any record has fields */
	size_t start = out->len, room = (r->n_fields + 1u) * sizeof *columns;
	int count = 0;

	if (packer_reserve(p, (n + 1) * VARINT_MAX) < 0 || !buf_room(out, room))
		return -1;
	/* The columns go behind the largest possible directory and are moved down to the real one. */
	out->len += room;
	for (unsigned i = 0; n && i < r->n_fields; i++) {
		const struct field *f = &r->fields[i];
		struct column *c = &columns[count];

		if (all_zero(f, rows, r->size, n))
			continue;       /* as in a file that does not have the field */
		*c = (struct column){ .id = (uint16_t)i };
		if (store_field(p, out, c, f, rows, r->size, n) < 0)
			return -1;
		count++;
	}
	if (tail_bytes) {
		columns[count] = (struct column){ .id = COLUMN_TAIL, .encoding = ENCODING_BYTES };
		if (store(p, out, &columns[count], tails, tail_bytes) < 0)
			return -1;
		count++;
	}
	if (out->oom)
		return -1;
	size_t used = (size_t)count * sizeof *columns;

	memmove(out->data + start + used, out->data + start + room, out->len - start - room);
	memcpy(out->data + start, columns, used);
	out->len -= room - used;
	return count;
}
