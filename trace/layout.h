/* Layout of an arena, computed from its size.  Guest and collector use the same function, whichever of the two makes the arena. */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include "trace/wire.h"

/* Minimum bytes for blocks: with less, a busy thread and CUPTI's thread would not both get a large block. */
#define ARENA_MIN_ROOM (4u << 20)

struct arena_layout {
	uint64_t size, blocks;          /* bytes of the arena; offset of the first block */
	uint32_t n_small, n_large;
};

/* A quarter of the room goes to small blocks, each thread's first block; the rest to large blocks for busy threads. */
static inline struct arena_layout arena_lay_out(uint64_t size)
{
	uint64_t head = (sizeof(struct arena) + 4095) & ~4095ull;
	uint64_t room = size > head + ARENA_MIN_ROOM ? size - head : ARENA_MIN_ROOM;
	uint64_t small = room / 4 / SMALL_BLOCK, large;

	if (small > MAX_SLOTS)
		small = MAX_SLOTS;
	large = (room - small * SMALL_BLOCK) / LARGE_BLOCK;
	if (large > MAX_BLOCKS - small)
		large = MAX_BLOCKS - small;
	return (struct arena_layout){
		.size = head + small * SMALL_BLOCK + large * LARGE_BLOCK, .blocks = head,
		.n_small = (uint32_t)small, .n_large = (uint32_t)large,
	};
}

#endif
