/* The session: its folder, its descriptors, its event loop.  Passes each event to the module that it concerns. */
#ifndef COLLECTOR_SESSION_H
#define COLLECTOR_SESSION_H

#include "collector/bell.h"
#include "collector/board.h"
#include "collector/ctl.h"
#include "collector/listener.h"
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
	struct health_counts health_counts; /* times on CLOCK_MONO */
	struct tree tree;
	struct orders orders;
	struct roster roster;
	struct board_view board;
	struct pipe pipe;
	struct listener listener;
	struct ctl ctl;
	struct ready ready;
	struct bell_watch bell;
	int control, epoll, tick, turn; /* turn: timer for the next change of the orders */
	bool with_tsc;
	int64_t start;                  /* MONOTONIC ns */
	unsigned ticks;
	bool program_ended;             /* gprof-run said so */
	bool answer_due;                /* ... and waits for an answer */
	int64_t closing;                /* MONOTONIC ns: when a capture range asked for the trace to be closed; 0: none has */
	bool run_gone;                  /* gprof-run has closed its end of control */
};

#define SESSION_INIT { .out = OUTPUT_INIT, .roster = ROSTER_INIT, .pipe = PIPE_INIT, \
		       .listener = LISTENER_INIT, .ctl = CTL_INIT, .bell = BELL_INIT, \
		       .control = -1, .epoll = -1, .tick = -1, .turn = -1 }

/* Makes everything that guests need, and tells gprof-run.  Returns 0; -1: gprof-run was told why. */
int session_open(struct session *s, const char *folder, int control);

/* Waits for events and handles them. */
void session_step(struct session *s);

/* Accepts new connections, in the middle of longer work. */
void session_accept(struct session *s);

/* True if no process of the session is left, and none will start. */
bool session_is_over(struct session *s);

/* Writes the last rows and the index, removes the folder, tells gprof-run.  Returns 0, or -1 after fail(). */
int session_finish(struct session *s);

/* Releases descriptors, memory and the folder. */
void session_release(struct session *s);

#endif
