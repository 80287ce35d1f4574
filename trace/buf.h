/* Growing bytes (struct buf) and reading foreign bytes (struct cursor).  Ask once at the end: buf.oom, cursor.bad. */
#ifndef TRACE_BUF_H
#define TRACE_BUF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* { 0 } is an empty buffer.  After a failed allocation oom is set and further puts do nothing. */
struct buf {
	uint8_t *data;
	size_t len, cap;
	bool oom;
};

static inline void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

/* Room for n more bytes behind len, or NULL (oom).  The caller adds to len what it used. */
static inline uint8_t *buf_room(struct buf *b, size_t n)
{
	if (b->oom)
		return NULL;
	if (b->cap - b->len < n) {
		size_t cap = b->cap ? b->cap * 2 : 256;

		while (cap - b->len < n)
			cap *= 2;
		uint8_t *data = realloc(b->data, cap);

		if (!data) {
			b->oom = true;
			return NULL;
		}
		b->data = data;
		b->cap = cap;
	}
	return b->data + b->len;
}

static inline void buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *room = n ? buf_room(b, n) : NULL;

	if (room) {
		memcpy(room, p, n);
		b->len += n;
	}
}

/* n more bytes at the end, which the caller fills, or NULL (oom).  A row written there need not be copied. */
static inline void *buf_add(struct buf *b, size_t n)
{
	uint8_t *room = buf_room(b, n);

	if (room)
		b->len += n;
	return room;
}

static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* At most 10 bytes; returns the end. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline void buf_put_varint(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_room(b, 10);

	if (p)
		b->len += (size_t)(varint_put(p, v) - p);
}

struct cursor {
	const uint8_t *p, *end;
	bool bad;               /* ran off the end, or met a byte that cannot be */
};

static inline uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
		uint8_t b = *c->p++;

		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	c->bad = true;
	c->p = c->end;          /* whatever follows fails too, at no cost */
	return 0;
}

/* n bytes in place, or NULL and bad. */
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

#endif
