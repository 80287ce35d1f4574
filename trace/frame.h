/*
 * What goes through the session's pipe where an arena cannot be shared: the guest fills a private arena of the same
 * layout, and a thread of its own copies what is new into frames; the collector applies them, in order, to a copy of
 * its own (collector/mirror.c).
 *
 * The session folder then has
 *   rows       named pipe, for all processes.  A frame is at most PIPE_BUF, so the kernel takes it whole or not at all
 *   order.N    for process N: what the collector writes into a shared arena (ARENA_TOLD), replaced by rename
 *
 * The order in a round is part of the promise (a prefix of each thread's rows, no range twice): first what is open,
 * then rows published before that look, blocks in the order in which they were handed over, then the other cells, and
 * how far the guest is at last.
 */
#ifndef TRACE_FRAME_H
#define TRACE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "trace/wire.h"

#define FRAME_MAGIC 0x6d726647u
#define FRAME_MAX   4096u               /* PIPE_BUF on Linux, a page: each takes one place of the pipe */
#define FRAME_ROOM  (FRAME_MAX - (uint32_t)sizeof(struct frame))

enum frame_kind {
	FRAME_ROWS = 1,                 /* bytes of a block */
	FRAME_CELLS,                    /* bytes that the guest writes of the arena's header: life to block_state, slots */
	FRAME_KINDS
};

#define FRAME_PART 1u                   /* of ROWS: ends within a row, the rest follows */
#define FRAME_LAST 2u                   /* of ROWS: the block is handed over; its index begins anew */

struct frame {
	uint32_t magic;
	uint16_t length;                /* of this head and what follows; a multiple of 8, at most FRAME_MAX */
	uint8_t  kind, flags;
	uint32_t process;               /* its number */
	uint32_t sequence;              /* of the process: 1, 2, 3 ... */
	uint32_t place;                 /* ROWS: index of the block.  CELLS: offset in struct arena */
	uint32_t at;                    /* ROWS: where in the block's rows these bytes stand */
	uint32_t thread;                /* ROWS: owner of the block */
	uint32_t check;                 /* frame_check() of the above */
};

_Static_assert(sizeof(struct frame) == 32 && FRAME_ROOM % 8 == 0, "a frame is as wide as the wire says");

/* Tells a head from bytes of a row, where something else was written into the pipe. */
static inline uint32_t frame_check(const struct frame *f)
{
	uint64_t h = (uint64_t)f->magic << 32 | (uint32_t)f->length << 16 | (uint32_t)f->kind << 8 | f->flags;

	h = (h ^ ((uint64_t)f->process << 32 | f->sequence)) * 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 29 ^ ((uint64_t)f->place << 32 | f->at)) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 32 ^ f->thread) * 0x94d049bb133111ebull;
	return (uint32_t)(h >> 32);
}

#endif
