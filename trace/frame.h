/*
 * Frames on the session's pipe, used where an arena cannot be shared.  The guest fills a private arena of the same layout; its sender
 * thread copies changes into frames.  The collector applies the frames, in order, to its copy of the arena (collector/arena_replica.c).
 *
 * The session folder then has
 *   rows       named pipe, for all processes.  A frame is at most PIPE_BUF, so the kernel takes it whole or not at all
 *   order.N    for process N: the part of the arena that the collector writes (ARENA_TOLD), replaced by rename
 *
 * Each round sends (1) open ranges, (2) rows published before step 1, blocks in hand-over order, (3) the other cells, (4) the state of
 * the guest (arena.life).  So the collector always holds a prefix of each thread's rows, and never a range that is both open and ended.
 */
#ifndef TRACE_FRAME_H
#define TRACE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "trace/wire.h"

#define FRAME_MAGIC 0x6d726647u
#define FRAME_MAX   4096u               /* PIPE_BUF on Linux, a page: each frame takes one slot of the pipe */
#define FRAME_ROOM  (FRAME_MAX - (uint32_t)sizeof(struct frame))

enum frame_kind {
	FRAME_ROWS = 1,                 /* bytes of a block */
	FRAME_CELLS,                    /* bytes of the guest's part of the arena's header: life to block_state, slots */
	FRAME_HELLO,                    /* first frame of a process that got no answer in time: struct frame_hello */
	FRAME_KINDS
};

#define FRAME_PART 1u                   /* ROWS: ends within a row, the rest follows */
#define FRAME_LAST 2u                   /* ROWS: last frame of the block; the next frame with this index is of a new block */

struct frame {
	uint32_t magic;
	uint16_t length;                /* bytes of this head and the contents; a multiple of 8, at most FRAME_MAX */
	uint8_t  kind, flags;
	uint32_t process;               /* number of the process; with WIRE_LATE, chosen by the process */
	uint32_t sequence;              /* number of the frame in its process: 1, 2, 3 ... */
	uint32_t place;                 /* ROWS: index of the block.  CELLS: offset in struct arena */
	uint32_t at;                    /* ROWS: offset of the bytes in the block's rows */
	uint32_t thread;                /* ROWS: owner of the block */
	uint32_t check;                 /* frame_check() of the fields above */
};

struct frame_hello {
	struct wire_hello hello;
	uint64_t arena_size;            /* bytes; layout: arena_lay_out(arena_size) */
};

_Static_assert(sizeof(struct frame_hello) % 8 == 0, "whole words");
_Static_assert(sizeof(struct frame) == 32 && FRAME_ROOM % 8 == 0, "a frame is as wide as the wire says");

/* Checksum of a frame's head, by which the collector finds the next frame after foreign bytes in the pipe. */
static inline uint32_t frame_check(const struct frame *f)
{
	uint64_t h = (uint64_t)f->magic << 32 | (uint32_t)f->length << 16 | (uint32_t)f->kind << 8 | f->flags;

	h = (h ^ ((uint64_t)f->process << 32 | f->sequence)) * 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 29 ^ ((uint64_t)f->place << 32 | f->at)) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 32 ^ f->thread) * 0x94d049bb133111ebull;
	return (uint32_t)(h >> 32);
}

#endif
