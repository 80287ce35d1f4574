/* Reads what processes report by themselves: lines of the board and of the roster's pipe. */
#include "collector/board.h"
#include "collector/clocks.h"
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
	struct tree_process *p;

	if (l->how == 'n') {
		not_loaded(arg, l);
		return;
	}
	p = tree_roster(arg, l);
	if (p)
		tree_notice_exec(arg, p);       /* remembers which file it runs */
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
