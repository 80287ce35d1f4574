/* Columns -> rows.  The bytes are foreign: every length is checked before it is believed. */
#include "trace/columns.h"

#include <pthread.h>
#include <zstd.h>

/* zstd state and memory of one thread, kept between columns. */
struct unpacker {
	ZSTD_DCtx *zstd;
	uint8_t *scratch;
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

/* The bytes of a zstd frame that must hold exactly `raw`; valid until the thread's next call.  NULL: it does not. */
static const uint8_t *unzstd(const uint8_t *p, size_t stored, size_t raw)
{
	struct unpacker *u = own_unpacker();

	if (!u)
		return NULL;
	if (u->cap < raw) {
		free(u->scratch);
		u->cap = 0;
		u->scratch = malloc(raw);
		if (!u->scratch)
			return NULL;
		u->cap = raw;
	}
	return ZSTD_decompressDCtx(u->zstd, u->scratch, raw, p, stored) == raw ? u->scratch : NULL;
}

/*
 * Finds column id and its stored bytes.  1: found; 0: the body has none; -1: the directory and the body do not agree (a body cut
 * anywhere: the columns fill it exactly).
 */
static int find(const uint8_t *body, size_t size, unsigned n_columns, unsigned id, struct column *found, const uint8_t **data)
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
			*data = body + at;
			rc = 1;
		}
		at += c.stored;
	}
	return at == size ? rc : -1;
}

/* Undoes zstd where it was used.  max: most bytes that make sense. */
static const uint8_t *unpack(const struct column *c, const uint8_t *data, size_t max)
{
	if (c->raw > max)
		return NULL;
	if (c->encoding & ENCODING_ZSTD)
		return unzstd(data, c->stored, c->raw);
	return c->stored == c->raw ? data : NULL;
}

static inline __attribute__((always_inline)) void put(void *out, size_t i, uint64_t v, unsigned size)
{
	if (size == 8)
		((uint64_t *)out)[i] = v;
	else
		((uint32_t *)out)[i] = (uint32_t)v;
}

/* Inlined into each case of decode(), so that encoding and size are constants in the loop. */
static inline __attribute__((always_inline)) int decode_as(struct cursor c, void *out, size_t n, enum encoding encoding,
							    unsigned size)
{
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = c.p < c.end && *c.p < 0x80 ? *c.p++ : cursor_varint(&c);

		if (encoding != ENCODING_PLAIN)
			v = (uint64_t)unzigzag(v);
		if (encoding == ENCODING_DELTA)
			prev = v += prev;
		put(out, i, v, size);
	}
	return c.bad || c.p != c.end ? -1 : 0;
}

static int decode(struct cursor c, void *out, size_t n, unsigned encoding, unsigned size)
{
	switch (encoding) {
	case ENCODING_PLAIN:
		return size == 8 ? decode_as(c, out, n, ENCODING_PLAIN, 8) : decode_as(c, out, n, ENCODING_PLAIN, 4);
	case ENCODING_DELTA:
		return size == 8 ? decode_as(c, out, n, ENCODING_DELTA, 8) : decode_as(c, out, n, ENCODING_DELTA, 4);
	case ENCODING_SIGNED:
		return size == 8 ? decode_as(c, out, n, ENCODING_SIGNED, 8) : decode_as(c, out, n, ENCODING_SIGNED, 4);
	}
	return -1;
}

static int decode_const(struct cursor c, void *out, size_t n, unsigned size)
{
	uint64_t v = (uint64_t)unzigzag(cursor_varint(&c));

	if (c.bad || c.p != c.end)
		return -1;
	for (size_t i = 0; i < n; i++)
		put(out, i, v, size);
	return 0;
}

int column_decode(const uint8_t *body, size_t size, unsigned n_columns, const struct record *r, unsigned f, void *out, size_t n)
{
	unsigned width = r->fields[f].size, encoding;
	const uint8_t *data;
	struct column c;
	int found = find(body, size, n_columns, f, &c, &data);

	if (found < 0)
		return -1;
	if (!found) {
		memset(out, 0, n * width);
		return 0;
	}
	data = unpack(&c, data, n < 1 ? 10 : n * 10);
	if (!data)
		return -1;
	struct cursor cursor = { data, data + c.raw, false };

	encoding = c.encoding & ~ENCODING_ZSTD;
	return encoding == ENCODING_CONST ? decode_const(cursor, out, n, width) : decode(cursor, out, n, encoding, width);
}

int column_tails(const uint8_t *body, size_t size, unsigned n_columns, struct buf *out)
{
	const uint8_t *data;
	struct column c;
	int found = find(body, size, n_columns, COLUMN_TAIL, &c, &data);

	if (found <= 0)
		return found;
	if ((c.encoding & ~ENCODING_ZSTD) != ENCODING_BYTES)
		return -1;
	data = unpack(&c, data, CHUNK_RAW_MAX);
	if (!data)
		return -1;
	buf_put(out, data, c.raw);
	return out->oom ? -1 : 0;
}
