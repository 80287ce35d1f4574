/* The session: its folder, its descriptors, its clockwork.  What happens is told to the rooms that it concerns. */
#ifndef COLLECTOR_SESSION_H
#define COLLECTOR_SESSION_H

#include "collector/bell.h"
#include "collector/ctl.h"
#include "collector/door.h"
#include "collector/orders.h"
#include "collector/output.h"
#include "collector/pipe.h"
#include "collector/ready.h"
#include "collector/roster.h"
#include "collector/tree.h"

struct session {
	const char *folder;             /* borrowed */
	struct config config;
	struct output out;
	struct staging rows;            /* of process 0 */
	struct troubles troubles;       /* CLOCK_MONO */
	struct tree tree;
	struct orders orders;
	struct roster roster;
	struct pipe pipe;
	struct door door;
	struct ctl ctl;
	struct ready ready;
	struct bell_watch bell;
	int control, epoll, tick, turn; /* turn: a timer for the next change of the capture order */
	bool with_tsc;
	int64_t start;                  /* MONOTONIC */
	unsigned ticks;
	bool program_ended;             /* gprof-run said so */
	bool answer_due;                /* ... and waits for an answer */
	int64_t closing;                /* MONOTONIC: when a capture range asked for the trace to be closed; 0: none has */
	bool run_gone;                  /* nobody is at the other end of control */
};

#define SESSION_INIT { .out = OUTPUT_INIT, .roster = ROSTER_INIT, .pipe = PIPE_INIT, \
		       .door = DOOR_INIT, .ctl = CTL_INIT, .bell = BELL_INIT, \
		       .control = -1, .epoll = -1, .tick = -1, .turn = -1 }

/* Everything that a guest needs is there, and gprof-run knows.  0, or -1: gprof-run knows why not. */
int session_open(struct session *s, const char *folder, int control);

/* Waits for something to happen and sees to it. */
void session_step(struct session *s);

/* Sees to who is at the door, in the middle of longer work. */
void session_mind_door(struct session *s);

/* No process of the tree is left, and nobody will start another. */
bool session_is_over(struct session *s);

/* Last rows, index, the word to gprof-run.  0 or -1. */
int session_finish(struct session *s);

/* Descriptors, memory and the folder. */
void session_release(struct session *s);

#endif
