/* The processes of the session: who appeared, who replaced whom by exec, who is gone. */
#ifndef COLLECTOR_TREE_H
#define COLLECTOR_TREE_H

#include "collector/asked.h"
#include "collector/process.h"
#include "collector/roster.h"
#include "trace/config.h"

struct pipe;

#define TREE_BUCKETS 16384u

struct tree {
	struct process **all;           /* all[i] has number i + 1 */
	size_t n, cap;
	struct process **live;          /* those that are not over, and some that are since the last tree_tidy() */
	size_t n_live, live_cap;
	size_t n_watched;               /* alive, and known to be: they keep the session open */
	struct process *buckets[TREE_BUCKETS];  /* by pid */
	/* borrowed from the session */
	const char *folder;
	const struct config *config;
	struct output *out;
	struct staging *rows;           /* rows of the session */
	struct troubles *troubles;
	struct pipe *pipe;              /* NULL: none, in tests */
	int epoll;
	uint32_t run_pid;               /* gprof-run: never one of ours */
	unsigned clock;
	struct capture capture;         /* what new arenas start with */
	uint32_t n_windows;             /* that orders have opened */
	struct asked asked;
	uint64_t ready_of_gone;         /* cycles of the schedule that ended in processes that are gone */
};

/* What epoll reports when the process of a number ends. */
#define TREE_TAG 0xffffffffu
static inline uint64_t tree_tag(uint32_t number)
{
	return (uint64_t)number << 32 | TREE_TAG;
}

/* What we hear. */
void tree_roster(struct tree *t, const struct roster_line *l);
void tree_main(struct tree *t, uint32_t pid);

/* The process behind a hello from host_pid (0: not known), which may be over already.  NULL: there are too many. */
struct process *tree_hello(struct tree *t, const struct wire_hello *h, uint32_t host_pid);

/* Takes what is in the arena of one who says hello a second time; it gets a new one. */
void tree_forget_arena(struct tree *t, struct process *p);

/* What processes have sent through the pipe until now goes to their mirrors. */
void tree_hear_pipe(struct tree *t);

/* The process that has this pid now, NULL: none of ours. */
struct process *tree_find(const struct tree *t, uint32_t pid);

/* It could not connect, and why.  Counted once: it and we may both notice. */
void tree_refused(struct tree *t, struct process *p, const char *why);

/* Everything it left is written, and its last row; flags: PROCESS_EXECED, or 0.  It is over. */
void tree_end(struct tree *t, struct process *p, unsigned flags);

/* The kernel says that it has ended: how it did is asked for at once, before its parent waits for it. */
void tree_look_at_end(struct tree *t, uint32_t number);

/* What gprof-run, its parent, knows of how the program ended. */
void tree_told_end(struct tree *t, uint32_t pid, const struct ending *e);

/* Ends the processes that are gone but whose pidfd has not been heard yet, or who have none. */
void tree_reap(struct tree *t, bool all);

/*
 * Takes those that are over out of `live`, so that a long run of short processes costs us no more than the ones that are there.  Between
 * walks of the list only; everything else leaves it in its order, and adds at its end.
 */
void tree_tidy(struct tree *t);

/* A process that was found rather than heard of.  NULL: it is gone already, or out of memory. */
struct process *tree_add_stray(struct tree *t, uint32_t pid, const char *name);

/*
 * The pid that we watch is not this process: how it ends will not be known, unless we learn its real pid.  0, or -1: it
 * is gone.
 */
void tree_disown(struct tree *t, struct process *p);
int tree_own(struct tree *t, struct process *p, uint32_t host_pid);

/* ---- strays.c ---- */

/* Attributes of the processes that lived long enough to have some. */
void tree_describe(struct tree *t);

/*
 * Looks through /proc for processes that carry our session's name and were never seen; they are then watched.  Their
 * number.
 */
size_t tree_find_strays(struct tree *t);

/*
 * An injected process that now runs another program, of which no roster line came for a second: a cleaned environment or a static
 * program.  It is over, and what runs on is one that is not injected.
 */
void tree_notice_exec(struct tree *t, struct process *p);

/* Counts the processes that never carried our object. */
void tree_name_strays(struct tree *t);

/* ---- */

/* The process row as it is now. */
void tree_put_row(struct tree *t, struct process *p);

void tree_release(struct tree *t);

#endif
