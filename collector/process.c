#include "collector/process.h"

#include <stdlib.h>
#include <unistd.h>

/* What a guest may say about itself. */
#define GUEST_FLAGS (PROCESS_NVTX | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_FORKED | PROCESS_FORKED_CUDA | \
		     PROCESS_CLEAN | PROCESS_PRELOADED | PROCESS_SIMULATED)

struct process *process_new(unsigned clock)
{
	struct process *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->clock = clock;
	p->alive = (struct alive)ALIVE_INIT;
	return p;
}

uint32_t process_flags(const struct process *p)
{
	uint32_t said = p->guest ? __atomic_load_n(&p->guest->view.a->flags, __ATOMIC_RELAXED) : 0;

	return p->flags | (said & GUEST_FLAGS);
}

int guest_new(struct process *p, struct output *out, const char *folder, uint64_t arena_size,
	      const struct capture *capture, int *fd)
{
	struct guest *g = calloc(1, sizeof *g);
	int rc = -1;

	*fd = -1;
	p->guest = g;
	if (!g || staging_init(&g->staging, out, p->number, p->clock) < 0)
		goto out;
	if (arena_new(&g->view, folder, arena_size, p->number, p->clock, capture, fd) < 0)
		goto out;
	g->blocks = calloc(arena_n_blocks(&g->view), sizeof *g->blocks);
	if (!g->blocks)
		goto out;
	rc = 0;
out:
	if (rc < 0) {
		guest_free(p);
		if (*fd >= 0)
			close(*fd);
	}
	return rc;
}

void guest_free(struct process *p)
{
	struct guest *g = p->guest;

	if (!g)
		return;
	arena_release(&g->view);
	staging_release(&g->staging);
	free(g->blocks);
	free(g->threads);
	free(g);
	p->guest = NULL;
}
