/*
 * Feeds the state machine that decides when rows are kept (capture.h), and carries out its decisions: window rows, step rows, and the gate
 * that hooks look at.
 *
 * A GPU row belongs to the window or step in which the call that launched it was made.  CUPTI's correlation ids grow, so the first call
 * after a boundary marks it (GATE_EDGE asks for that call).
 *
 * Any thread may call these functions.  `s` is its stream, entered, with no row reserved.
 */
#ifndef INJECT_CAPTURE_WINDOWS_H
#define INJECT_CAPTURE_WINDOWS_H

#include "inject/capture/capture.h"
#include "inject/capture/keep_intervals.h"
#include "inject/core/stream.h"
#include "trace/rules/torchsteps.h"

/* Tag of an open range: what it captures; 0: nothing. */
#define TAG_CAPTURE   0x80000000u       /* a capture range */
#define TAG_KEPT      0x40000000u       /* for ranges.c: rows were kept when the range began */
#define TAG_STEP(tag) ((tag) & 0xffff)  /* its step: slot + 1 in the arena; 0: none */

/*
 * Call when a range with WATCHED_ bits (watch.h) begins, before its own row is opened: the range must lie in the window that it opens.
 * started: a start/end range.  Returns the tag for windows_range_end(), to be called after the range's row is written.
 */
uint32_t windows_range_begin(struct stream *s, uint32_t watched, uint32_t name, uint64_t range, bool started);
void windows_range_end(struct stream *s, uint32_t tag, bool abandoned);

/* A mark: ends the current step of each of its kinds and begins the next one. */
void windows_mark(struct stream *s, uint32_t watched, uint32_t name);

/* Call after cudaProfilerStart() has returned (start), and before cudaProfilerStop(). */
void windows_profiler(struct stream *s, bool start);

/* Call at the first CUDA call after a boundary, when the gate has GATE_EDGE.  corr: its correlation id. */
void windows_call(struct stream *s, uint32_t corr);

/* The schedule's state for a step. */
struct step_at {
	uint32_t window;                /* the open window; 0: none */
	bool warms;
};

/* Returns the kind of steps that nothing marks; -1: none. */
int windows_auto_kind(void);

/* Reports a step that was found in launches.  Its row is written when the next one is known: the step lasts until then. */
void windows_found_step(struct stream *s, unsigned kind, const struct step_row *row);

/* Returns the schedule's state for steps of that kind. */
struct step_at windows_step_at(unsigned kind);

/*
 * Ends the current step in the schedule, and begins the next one; returns the next one's state.  Call windows_wake() afterwards, without
 * holding a lock.
 */
struct step_at windows_next_step(struct stream *s, unsigned kind);

/*
 * windows_torch_step(): a boundary that PyTorch reports; before: when the step before it began.  windows_torch_over(): at a clean process
 * end, discards the open step.
 */
void windows_torch_step(struct stream *s, const struct torchsteps_answer *a, int64_t before);
void windows_torch_over(void);

/* Wakes CUPTI if it is needed by now, and waits for that: half a second at most. */
void windows_wake(void);

/* True if CUDA rows are wanted now or soon: a window is open, or its schedule warms up. */
bool windows_want_cuda(void);

/*
 * Sets the function that wakes CUPTI, called without the lock; NULL: CUPTI is awake.  While it sleeps, orders wait for a thread of this
 * object, if there is one: a thread of the program may be inside a CUDA call.
 */
void windows_sleeper(void (*wake)(void));

/*
 * The thread that set guest->watcher does not poll for orders and flush any more: threads of the program follow orders again, and windows
 * that have closed count as flushed.  Under the lock of the windows: one that closes now is counted here, or finds no watcher.  Any thread.
 */
void windows_unwatched(void);

/* gate_now() for a signal handler: while CUPTI sleeps, applies no order. */
uint32_t windows_gate_now(void);

/* True if recording is over for good. */
bool windows_over(void);

#endif
