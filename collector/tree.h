/* The processes of the session: which appeared, which replaced which by exec, which are over. */
#ifndef COLLECTOR_TREE_H
#define COLLECTOR_TREE_H

#include "collector/unmatched.h"
#include "collector/process.h"
#include "collector/roster.h"
#include "trace/config.h"

struct board_view;
struct pipe;

#define TREE_BUCKETS 16384u
#define TREE_LATE 256u

struct tree {
	struct tree_process **all;      /* all[i] has number i + 1 */
	size_t n, cap;
	struct tree_process **live;     /* processes that run, and some that ended since the last tree_tidy() */
	size_t n_live, live_cap;
	size_t n_watched;               /* alive, and known to be: these keep the session open */
	struct tree_process *buckets[TREE_BUCKETS]; /* by pid */
	struct tree_process *late[TREE_LATE];   /* by the number that they chose (late.c) */
	/* borrowed from the session */
	const char *folder;
	const struct config *config;
	struct output *out;
	struct staging *rows;           /* rows of the session */
	struct health_counts *health_counts;
	struct roster *roster;          /* NULL: none, in tests; so are board and pipe */
	struct board_view *board;
	struct pipe *pipe;
	int epoll;
	uint32_t run_pid;               /* gprof-run's, which is not a process of the session */
	unsigned clock;
	struct orders_given capture;         /* orders that new arenas start with */
	uint32_t n_windows;             /* that orders have opened */
	struct unmatched unmatched;
	uint64_t ready_of_gone;         /* cycles of the schedule that ended in processes that are over */
};

/* epoll data of a process: number << 32 | TREE_TAG. */
#define TREE_TAG 0xffffffffu
static inline uint64_t tree_tag(uint32_t number)
{
	return (uint64_t)number << 32 | TREE_TAG;
}

/*
 * tree_roster(): handles a line of the roster.  Returns the process that the line adds or names; NULL: the line is about the past, or only a
 * note.  tree_main(): gprof-run names the program's pid.
 */
struct tree_process *tree_roster(struct tree *t, const struct roster_line *l);
void tree_main(struct tree *t, uint32_t pid);

/* Returns the process that sent a hello from host_pid (0: unknown); it may be over.  NULL: too many processes, or no memory. */
struct tree_process *tree_hello(struct tree *t, const struct wire_hello *h, uint32_t host_pid);

/*
 * Returns the process that sent a hello through the pipe; NULL as for tree_hello().  Ends no other process: the pipe is read in the middle
 * of other work.
 */
struct tree_process *tree_late(struct tree *t, const struct wire_hello *h);

/* For a process that says hello a second time, and gets a new arena: reads the pipe, then takes what is in the old arena and frees it. */
void tree_forget_arena(struct tree *t, struct tree_process *p);

/* As tree_forget_arena(), for callers that are reading the pipe. */
void tree_forget_guest(struct tree *t, struct tree_process *p);

/* Takes what is in the arena of a process that is over, and writes its last rows. */
void tree_bury(struct tree *t, struct tree_process *p);

/* ---- hear.c, hear_pipe.c ---- */

/*
 * Reads the lines of the board, and some of the roster's pipe: all that a process wrote before the event that led here.  False: there was
 * nothing.
 */
bool tree_hear_roster(struct tree *t);

/* Applies all frames that were sent through the pipe so far to their replicas. */
void tree_hear_pipe(struct tree *t);

/* ---- */

/* Returns the process that has this pid now; NULL: none of the session. */
struct tree_process *tree_find(const struct tree *t, uint32_t pid);

/* Counts that the process could not connect, and why.  Once per process: guest and collector may both notice. */
void tree_refused(struct tree *t, struct tree_process *p, const char *why);

/* Ends a process: takes what it left, writes its last rows.  flags: PROCESS_EXECED, or 0.  Does nothing if it is over. */
void tree_end(struct tree *t, struct tree_process *p, unsigned flags);

/* Call when the kernel reports the end of a process: reads how it ended at once, before its parent waits for it. */
void tree_look_at_end(struct tree *t, uint32_t number);

/* Records how the program ended, as gprof-run, its parent, knows. */
void tree_note_end(struct tree *t, uint32_t pid, const struct ending *e);

/* Ends processes that are gone: those without a pidfd; with `all`, also those whose pidfd event was not handled yet. */
void tree_reap(struct tree *t, bool all);

/*
 * Removes from `live` the processes that are over, so that a long run of short processes costs only as much as those alive.  Call it only
 * between walks of the list; all other functions keep the order, and append.
 */
void tree_tidy(struct tree *t);

/* Adds a process that was found, without a line or a hello.  NULL: it is gone already, or there is no memory. */
struct tree_process *tree_add_stray(struct tree *t, uint32_t pid, const char *name);

/*
 * tree_disown(): the watched pid is not this process's; its end is unknown until tree_own() gives its real pid.  tree_own() returns 0; -1:
 * it is gone.
 */
void tree_disown(struct tree *t, struct tree_process *p);
int tree_own(struct tree *t, struct tree_process *p, uint32_t host_pid);

/* ---- untracked.c ---- */

/* Describes the processes that lived long enough for that, once each. */
void tree_describe(struct tree *t);

/* Searches /proc for unknown processes that have the session's folder in their environment, and watches them.  Returns their number. */
size_t tree_find_untracked(struct tree *t);

/*
 * Notices that an injected process has run another program for a second without a roster line: its environment was cleared, or it is a
 * static program.  Ends it, and adds what runs on as a process that is not injected.
 */
void tree_notice_exec(struct tree *t, struct tree_process *p);

/* Counts the processes that never loaded libgprof_inject.so. */
void tree_name_untracked(struct tree *t);

/* ---- */

/* Writes the process row as it is now. */
void tree_put_row(struct tree *t, struct tree_process *p);

/* Frees all processes, with their guests. */
void tree_release(struct tree *t);

#endif
