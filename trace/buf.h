/* A growing byte buffer (struct buf) and a checked reader of untrusted bytes (struct cursor).  Test buf.oom and cursor.bad at the end. */
#ifndef TRACE_BUF_H
#define TRACE_BUF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

/* { 0 } is an empty buffer.  After a failed allocation oom is set and further puts do nothing. */
struct buf {
	uint8_t *data;
	size_t len, cap;
	bool oom;
};

/* Frees the memory; *b is then an empty buffer. */
static inline void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

/* Returns room for n more bytes at data + len, or NULL (oom).  The caller adds the bytes it used to len. */
static inline uint8_t *buf_room(struct buf *b, size_t n)
{
	if (b->oom)
		return NULL;
	if (b->cap - b->len < n && !GROW(b->data, b->len + n, b->cap)) {
		b->oom = true;
		return NULL;
	}
	return b->data + b->len;
}

/* Appends n bytes. */
static inline void buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *room = n ? buf_room(b, n) : NULL;

	if (room) {
		memcpy(room, p, n);
		b->len += n;
	}
}

/* Appends n uninitialised bytes for the caller to fill and returns them, or NULL (oom).  Valid until the next append. */
static inline void *buf_add(struct buf *b, size_t n)
{
	uint8_t *room = buf_room(b, n);

	if (room)
		b->len += n;
	return room;
}

/* Maps small signed numbers to small unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

/* Inverse of zigzag(). */
static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Writes v at p as a varint of at most 10 bytes; returns the end of the varint. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Appends v as a varint: groups of 7 bits, lowest first, bit 7 set in all bytes but the last. */
static inline void buf_put_varint(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_room(b, 10);

	if (p)
		b->len += (size_t)(varint_put(p, v) - p);
}

/* A position in untrusted bytes.  After a failed read `bad` is set and further reads fail. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;               /* a read ran past the end, or a varint was too long */
};

/* Reads a varint; 0 and bad on failure. */
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
	c->p = c->end;          /* all later reads fail at once */
	return 0;
}

/* Returns the next n bytes in place, or NULL and sets bad. */
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
