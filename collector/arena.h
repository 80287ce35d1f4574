/*
 * Making the shared memory of a process, and reading it without believing what it says: the layout is kept here,
 * because the program can write over its own arena.
 */
#ifndef COLLECTOR_ARENA_H
#define COLLECTOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/wire.h"

/* What guests are told to record. */
struct capture {
	uint32_t n_orders;              /* given so far */
	struct given {
		struct order order;     /* its time is filled in for each guest */
		int64_t tsc, mono;
	} orders[ORDERS];
};

struct arena_view {
	struct arena *a;                /* NULL: none */
	uint64_t size, blocks;          /* of the mapping; offset of the first block */
	uint32_t n_small, n_large;
};

/*
 * A mapping of `size` bytes of shared zeroes, and its descriptor for others (in *fd, the caller's).  A memfd that
 * nobody can shrink under us, else a file in the folder with its room set aside.  NULL: neither can be had; fail() has
 * spoken.
 */
void *shared_memory(const char *folder, size_t size, int *fd);

/* From now on a page of shared memory that was cut off reads as zeroes instead of ending us. */
void shared_memory_guard(void);

/*
 * A new arena of about `size` bytes, ready to be handed over with *fd; fd NULL: for us alone, a mirror of one that is
 * not shared.  0 or -1.
 */
int arena_new(struct arena_view *v, const char *folder, uint64_t size, uint32_t process, unsigned clock,
	      const struct capture *capture, int *fd);

/* One more order: what is to be recorded from now on (ORDER_ bits); over: for good.  window: how many orders have opened. */
void capture_order(struct capture *c, uint32_t mask, bool over, uint32_t window);

/* The mask of the last; 0: there is none. */
uint32_t capture_mask(const struct capture *c);

/* Tells the guest the orders that there are. */
void arena_tell(struct arena_view *v, const struct capture *capture);
void arena_release(struct arena_view *v);

static inline uint32_t arena_n_blocks(const struct arena_view *v)
{
	return v->n_small + v->n_large;
}

static inline struct block *arena_view_block(const struct arena_view *v, uint32_t i)
{
	uint64_t at = v->blocks;

	at += i < v->n_small ? (uint64_t)i * SMALL_BLOCK
			     : (uint64_t)v->n_small * SMALL_BLOCK + (uint64_t)(i - v->n_small) * LARGE_BLOCK;
	return (struct block *)((char *)v->a + at);
}

/* Bytes for rows in block i. */
static inline uint32_t arena_block_cap(const struct arena_view *v, uint32_t i)
{
	return (i < v->n_small ? SMALL_BLOCK : LARGE_BLOCK) - (uint32_t)sizeof(struct block);
}

#endif
