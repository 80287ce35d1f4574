/*
 * Feeds the machine that decides when rows are kept (capture.h) and writes what it decided: window rows, step rows, and the
 * gate that hooks look at.
 *
 * Which rows of the GPU belong to a window or a step is told by the calls that launched them: CUPTI's correlation ids grow, so
 * the first call made after a boundary marks it (GATE_EDGE asks for that call).
 */
#ifndef INJECT_WINDOWS_H
#define INJECT_WINDOWS_H

#include "inject/capture.h"
#include "inject/kept.h"
#include "inject/stream.h"
#include "trace/torchsteps.h"

/* What an open range is to capture; 0: nothing. */
#define TAG_CAPTURE   0x80000000u       /* a capture range */
#define TAG_KEPT      0x40000000u       /* for ranges.c: rows were kept when it began */
#define TAG_STEP(tag) ((tag) & 0xffff)  /* a step: its place + 1 in the arena's table of open ones; 0: none */

/*
 * A range begins that watch.h knows: capture, and the kinds of step it is one of (bits).  Before its own row is opened, so that
 * it lies in the window it opens.  The answer goes to windows_range_end(), after the range's row is written.
 */
uint32_t windows_range_begin(struct stream *s, uint32_t watched, uint32_t name, uint64_t range, bool started);
void windows_range_end(struct stream *s, uint32_t tag, bool abandoned);

/* A mark, which ends the step before and begins the next of the same kind. */
void windows_mark(struct stream *s, uint32_t watched, uint32_t name);

/* cudaProfilerStart has returned, cudaProfilerStop begins. */
void windows_profiler(struct stream *s, bool start);

/* The first call after a boundary: the gate had GATE_EDGE. */
void windows_call(struct stream *s, uint32_t corr);

/* What the schedule does with the step that runs. */
struct step_at {
	uint32_t window;                /* 0: none */
	bool warms;
};

/* The kind of step that nothing marks; -1: there is none. */
int windows_auto_kind(void);

/* A step of that kind was found.  Its row is written when the one after it is known, which may begin later than its last call. */
void windows_found_step(struct stream *s, unsigned kind, const struct step_row *row);

/* What the schedule does with steps of that kind now. */
struct step_at windows_step_at(unsigned kind);

/*
 * It ends, as far as the schedule is concerned, and the next one begins, which the answer is about.  windows_wake() is to follow, outside of
 * the caller's own lock.
 */
struct step_at windows_next_step(struct stream *s, unsigned kind);

/* A boundary that PyTorch tells, and when the step before it began; at a clean end the step that runs is none. */
void windows_torch_step(struct stream *s, const struct torchsteps_answer *a, int64_t before);
void windows_torch_over(void);

/* Wakes CUPTI if what happened so far needs it, and waits for that: half a second at most. */
void windows_wake(void);

/* Rows of CUDA are wanted now, or soon: a window is open, or its schedule warms up. */
bool windows_want_cuda(void);

/*
 * CUPTI sleeps until then: what wakes it, outside the lock; NULL: it is awake.  Orders then wait for a thread of ours, if there is one:
 * a thread of the program may be inside a CUDA call.
 */
void windows_sleeper(void (*wake)(void));

/* gate_now() for a signal handler: wakes nobody.  Orders may then wait for a call, or a thread of ours. */
uint32_t windows_gate_now(void);

/* Recording is over for good. */
bool windows_over(void);

#endif
