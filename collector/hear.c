/* Reads what processes report by themselves: lines of the board and of the roster's pipe, frames of the rows pipe. */
#include "collector/board.h"
#include "collector/clocks.h"
#include "collector/late.h"
#include "collector/arena_replica.h"
#include "collector/pipe.h"
#include "collector/tree.h"
#include "trace/health.h"

/* Of the program only its name is known: if it is spawned, the parent writes the line. */
static void not_loaded(struct tree *t, const struct roster_line *l)
{
	const char *why = l->name[0] == ROSTER_32BIT ? "a 32-bit program" : l->name[0] == ROSTER_FOREIGN ? "a program for another processor" :
			  l->name[0] == ROSTER_FILTERED ? "a seccomp filter would kill the process" :
			  "libgprof_inject.so cannot be read there";

	if (l->name[0])
		health_counts_add(t->health_counts, HEALTH_not_loaded, 1, clocks_now(CLOCK_MONO), "%s: %s", l->name + 1, why);
}

static void line_seen(void *arg, const struct roster_line *l)
{
	if (l->how == 'n')
		not_loaded(arg, l);
	else
		tree_roster(arg, l);
}

bool tree_hear_roster(struct tree *t)
{
	struct roster *r = t->roster;
	struct roster_line line;
	uint64_t bad;
	uint32_t n = 0;
	bool heard;

	if (!r || !t->board)
		return false;
	bad = r->bad;
	heard = roster_read(r, line_seen, t);
	for (; n < BOARD_LINES && board_next(t->board, &line); n++) {
		if (roster_is_line(&line))
			line_seen(t, &line);
		else
			r->bad++;
	}
	bad = r->bad - bad + board_lost(t->board);
	if (bad)
		health_counts_add(t->health_counts, HEALTH_roster_lost, bad, clocks_now(CLOCK_MONO), NULL);
	return heard || n;
}

static struct process *sender(const struct tree *t, uint32_t number)
{
	if (number & WIRE_LATE)
		return late_find(t, number);
	return number && number <= t->n ? t->all[number - 1] : NULL;
}

static bool use_frame(void *arg, const struct frame *f, const void *body)
{
	struct tree *t = arg;
	struct process *p;

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
