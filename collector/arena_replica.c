#include "collector/arena_replica.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/drain.h"
#include "collector/log.h"

struct arena_replica *arena_replica_new(const char *folder, uint32_t process)
{
	struct arena_replica *m = calloc(1, sizeof *m);

	if (m)
		snprintf(m->path, sizeof m->path, "%s/order.%u", folder, process);
	return m;
}

void arena_replica_remove_orders(const struct arena_replica *m)
{
	if (m)
		unlink(m->path);
}

void arena_replica_free(struct arena_replica *m)
{
	arena_replica_remove_orders(m);
	free(m);
}

int arena_replica_write_orders(const struct connected_guest *g)
{
	const char *line = (const char *)g->view.a + ARENA_TOLD;
	char fresh[sizeof g->replica->path + 4];
	int fd;

	snprintf(fresh, sizeof fresh, "%s.new", g->replica->path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail("cannot create '%s': %s", fresh, strerror(errno));

	bool whole = write(fd, line, ARENA_TOLD_BYTES) == (ssize_t)ARENA_TOLD_BYTES;

	close(fd);
	if (whole && rename(fresh, g->replica->path) == 0)
		return 0;
	fail("cannot write '%s': %s", g->replica->path, strerror(errno));
	unlink(fresh);
	return -1;
}

static bool apply_rows(struct tree_process *p, const struct frame *f, const void *body, uint32_t n)
{
	struct connected_guest *g = p->guest;
	struct arena *a = g->view.a;
	uint32_t i = f->place, *got;
	bool last = f->flags & FRAME_LAST, part = f->flags & FRAME_PART;
	struct block *b;

	if (i >= arena_n_blocks(&g->view) || (last && part))
		return false;
	got = &g->replica->got[i];
	if (f->at != *got || n > arena_block_cap(&g->view, i) - *got)
		return false;
	b = arena_view_block(&g->view, i);

	if (a->block_state[i] == BLOCK_FREE) {
		b->index = i;
		b->cap = arena_block_cap(&g->view, i);
		a->block_state[i] = BLOCK_OWNED;
		a->n_taken++;
	}
	b->thread = f->thread;
	memcpy((char *)(b + 1) + *got, body, n);
	*got += n;
	if (!part)
		b->used = *got;
	if (last) {
		*got = 0;
		a->block_state[i] = BLOCK_FULL;
		drain(p, DRAIN_FULL);   /* frees the block: the next frame may use its index again */
	}
	return true;
}

static bool apply_cells(struct arena *a, const struct frame *f, const void *body, uint32_t n)
{
	size_t begin = f->place, end = begin + n;
	bool head = begin >= offsetof(struct arena, life) && end <= offsetof(struct arena, block_state);
	bool slots = begin >= offsetof(struct arena, slots) && end <= sizeof *a;
	uint32_t taken = a->n_taken;

	if (!head && !slots)
		return false;
	memcpy((char *)a + begin, body, n);
	a->n_taken = taken;     /* counts the replica's blocks, not the guest's */
	return true;
}

bool arena_replica_apply(struct tree_process *p, const struct frame *f, const void *body)
{
	struct arena_replica *m = p->guest->replica;
	uint32_t n = f->length - (uint32_t)sizeof *f, skipped = f->sequence - m->sequence - 1;
	bool good;

	/* A process's frames come in the order of their numbers; a lower number is from another one. */
	if (skipped > INT32_MAX)
		return false;
	m->sequence = f->sequence;
	good = f->kind == FRAME_ROWS ? apply_rows(p, f, body, n) : apply_cells(p->guest->view.a, f, body, n);
	return good && !skipped;
}
