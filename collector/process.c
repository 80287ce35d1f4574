#include "collector/process.h"

#include <stdlib.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/log.h"
#include "collector/arena_replica.h"
#include "trace/health.h"

/* PROCESS_ flags that a guest may set itself. */
#define GUEST_FLAGS (PROCESS_NVTX | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_FORKED | PROCESS_FORKED_CUDA | \
		     PROCESS_CLEAN | PROCESS_PRELOADED | PROCESS_SIMULATED)

struct tree_process *process_new(unsigned clock)
{
	struct tree_process *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->clock = clock;
	p->alive = (struct alive)ALIVE_INIT;
	return p;
}

uint32_t process_flags(const struct tree_process *p)
{
	uint32_t said = p->guest ? __atomic_load_n(&p->guest->view.a->flags, __ATOMIC_RELAXED) : 0;

	return p->flags | (said & GUEST_FLAGS);
}

void process_note_pipe(struct tree_process *p, const char *why)
{
	if (!health_counts_find(&p->health_counts, HEALTH_pipe_used))
		health_counts_add(&p->health_counts, HEALTH_pipe_used, 1, clocks_now(p->clock), "%s", why);
}

/* Makes the parts of a guest that do not depend on who made its arena.  Returns 0, or -1 after fail(). */
static int complete(struct tree_process *p, const struct orders_given *capture)
{
	struct connected_guest *g = p->guest;

	g->capture = *capture;
	g->blocks = calloc(arena_n_blocks(&g->view), sizeof *g->blocks);
	return g->blocks ? 0 : fail("out of memory");
}

static struct connected_guest *begin(struct tree_process *p, struct output *out)
{
	struct connected_guest *g = p->guest = calloc(1, sizeof *g);

	if (g && staging_init(&g->staging, out, p->number, p->clock) == 0)
		return g;
	fail("out of memory");
	return NULL;
}

int guest_new(struct tree_process *p, struct output *out, const char *folder, uint64_t arena_size,
	      const struct orders_given *capture, int *fd)
{
	struct connected_guest *g = begin(p, out);
	int rc = -1;

	if (fd)
		*fd = -1;
	if (!g || arena_new(&g->view, folder, arena_size, p->number, p->clock, capture, fd) < 0 || complete(p, capture) < 0)
		goto out;
	if (!fd && (!(g->replica = arena_replica_new(folder, p->late ? p->late : p->number)) || arena_replica_write_orders(g) < 0))
		goto out;
	rc = 0;
out:
	if (rc < 0) {
		guest_free(p);
		if (fd && *fd >= 0)
			close(*fd);
	}
	return rc;
}

int guest_adopt(struct tree_process *p, struct output *out, uint64_t arena_size, const struct orders_given *capture, int fd)
{
	struct connected_guest *g = begin(p, out);

	if (g && arena_adopt(&g->view, fd, arena_size, p->number, p->clock, capture) == 0 && complete(p, capture) == 0) {
		g->unheard = true;
		return 0;
	}
	guest_free(p);
	return -1;
}

void guest_tell(struct tree_process *p, const struct orders_given *capture)
{
	struct connected_guest *g = p->guest;

	arena_tell(&g->view, capture);
	if (g->replica && arena_replica_write_orders(g) < 0)
		health_counts_add(&p->health_counts, HEALTH_pipe_order, 1, clocks_now(p->clock), "%s", fail_text());
}

bool guest_flushed(const struct tree_process *p)
{
	const struct arena *a = p->guest ? p->guest->view.a : NULL;
	uint32_t flushed = a ? __atomic_load_n(&a->n_flushed, __ATOMIC_ACQUIRE) : 0;

	return !a || p->end || !(process_flags(p) & PROCESS_CUPTI) || flushed == __atomic_load_n(&a->n_closed, __ATOMIC_ACQUIRE);
}

void guest_free(struct tree_process *p)
{
	struct connected_guest *g = p->guest;

	if (!g)
		return;
	arena_release(&g->view);
	arena_replica_free(g->replica);
	staging_release(&g->staging);
	free(g->blocks);
	free(g->threads);
	free(g);
	p->guest = NULL;
}
