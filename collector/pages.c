#include "collector/pages.h"

#include <sys/mman.h>

/* A program that fills blocks again would pay 0.1 us a KiB for new pages, so they are kept this long. */
#define QUIET_SWEEPS 3

/* Threads take the lowest blocks first: these keep their pages. */
#define BLOCKS_KEPT 2u

/* Frees the pages of a block.  Meanwhile its state is BLOCK_FULL, so no thread takes it; a block that is BLOCK_GONE is never taken. */
static void punch(struct connected_guest *g, uint32_t i)
{
	uint32_t *state = &g->view.a->block_state[i], was = __atomic_load_n(state, __ATOMIC_ACQUIRE);
	uint32_t size = i < g->view.layout.n_small ? SMALL_BLOCK : LARGE_BLOCK;

	if (was == BLOCK_FREE) {
		if (!__atomic_compare_exchange_n(state, &was, BLOCK_FULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
	} else if (was != BLOCK_GONE) {
		return;
	}
	g->blocks[i].filled = 0;
	madvise(arena_view_block(&g->view, i), size, MADV_REMOVE);
	__atomic_store_n(state, was, __ATOMIC_RELEASE);
}

void pages_give_back(struct connected_guest *g)
{
	if (!g->filled || !g->view.sparse || g->quiet++ < QUIET_SWEEPS)
		return;
	for (uint32_t i = BLOCKS_KEPT; i < arena_n_blocks(&g->view); i++)
		if (g->blocks[i].filled)
			punch(g, i);
	g->filled = false;
}
