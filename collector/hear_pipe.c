/* Reads the pipe of rows: frames of processes without shared memory of the collector. */
#include "collector/arena_replica.h"
#include "collector/clocks.h"
#include "collector/late.h"
#include "collector/pipe.h"
#include "collector/tree.h"
#include "trace/health.h"

static struct tree_process *sender(const struct tree *t, uint32_t number)
{
	if (number & WIRE_LATE)
		return late_find(t, number);
	return number && number <= t->n ? t->all[number - 1] : NULL;
}

static bool use_frame(void *arg, const struct frame *f, const void *body)
{
	struct tree *t = arg;
	struct tree_process *p;

	if (f->kind == FRAME_HELLO)
		return late_hello(t, f, body);
	p = sender(t, f->process);
	return p && p->guest && p->guest->replica && arena_replica_apply(p, f, body);
}

void tree_hear_pipe(struct tree *t)
{
	const struct frame_user user = { use_frame, t };
	uint64_t bad;

	if (!t->pipe)
		return;
	bad = t->pipe->bad;
	pipe_read(t->pipe, &user);
	if (t->pipe->bad > bad)
		health_counts_add(t->health_counts, HEALTH_pipe_frames, t->pipe->bad - bad, clocks_now(CLOCK_MONO), NULL);
}
