/*
 * Makes the shared memory of a process, and reads it as untrusted data.  The layout is kept here: the program can overwrite its own arena.
 */
#ifndef COLLECTOR_ARENA_H
#define COLLECTOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/layout.h"

struct arena_view {
	struct arena *a;                /* NULL: none */
	struct arena_layout layout;
	bool sparse;                    /* its pages can be freed and are zeroes then: a memfd; false: a file with allocated blocks */
};

/*
 * Makes `size` bytes of zeroed shared memory: a memfd that nobody can shrink, else a file in the folder with allocated blocks.  Returns the
 * mapping; *fd is its descriptor, which the caller closes.  NULL after fail(): neither can be made.
 */
void *shared_memory(const char *folder, size_t size, int *fd);

/* Installs a SIGBUS handler: a page of shared memory that was cut off then reads as zeroes, and the collector goes on. */
void shared_memory_guard(void);

/*
 * Makes an arena of about `size` bytes; *fd is its descriptor, which the caller hands over and closes.  fd NULL: private memory, the replica
 * of an arena that is not shared.  Returns 0, or -1 after fail().
 */
int arena_new(struct arena_view *v, const char *folder, uint64_t size, uint32_t process, unsigned clock,
	      const struct orders_given *capture, int *fd);

/*
 * Maps an arena that a guest made, and that should have `size` bytes; the caller closes fd.  Returns 0; -1 after fail(): it is not as
 * expected.
 */
int arena_adopt(struct arena_view *v, int fd, uint64_t size, uint32_t process, unsigned clock, const struct orders_given *capture);

/*
 * Appends an order: what is recorded from now on (ORDER_ bits).  over: recording ends for good.  window: windows that orders have opened.
 */
void capture_order(struct orders_given *c, uint32_t mask, bool over, uint32_t window);

/* Returns the mask of the last order; 0: there is none. */
uint32_t capture_mask(const struct orders_given *c);

/* Writes the orders into the arena, where the guest reads them. */
void arena_tell(struct arena_view *v, const struct orders_given *capture);
void arena_release(struct arena_view *v);

/* Number of blocks, small ones first; valid indices are below it. */
static inline uint32_t arena_n_blocks(const struct arena_view *v)
{
	return v->layout.n_small + v->layout.n_large;
}

/* Address of block i, by the layout kept in *v. */
static inline struct block *arena_view_block(const struct arena_view *v, uint32_t i)
{
	uint64_t at = v->layout.blocks;

	at += i < v->layout.n_small ? (uint64_t)i * SMALL_BLOCK
			     : (uint64_t)v->layout.n_small * SMALL_BLOCK + (uint64_t)(i - v->layout.n_small) * LARGE_BLOCK;
	return (struct block *)((char *)v->a + at);
}

/* Capacity of block i for rows, in bytes. */
static inline uint32_t arena_block_cap(const struct arena_view *v, uint32_t i)
{
	return (i < v->layout.n_small ? SMALL_BLOCK : LARGE_BLOCK) - (uint32_t)sizeof(struct block);
}

#endif
