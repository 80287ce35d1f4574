/*
 * Call stacks: the frames of the calling thread, native and Python, become an id.  Each distinct stack is described to the collector once
 * in a process, before its first use, and so are the images and code objects that it names.
 *
 * Stacks are compared by a 64-bit hash of their frames.  Among 2^18 stacks, the most of a process, the chance that two share an id is 2 in
 * 10^9.
 */
#ifndef INJECT_STACKS_STACKS_H
#define INJECT_STACKS_STACKS_H

#include "inject/core/stream.h"

/* Which stack to capture. */
struct stack_want {
	uint32_t depth;                 /* most frames, the innermost ones; 0: the setting */
	uint32_t flags;                 /* STACK_NATIVE, STACK_PYTHON; 0: native, and Python if the setting says so */
	const void *context;            /* in a signal handler: its third argument, to capture the interrupted stack; else NULL */
};

/*
 * Captures the calling thread's stack without the innermost frames of this object and CUPTI.  Returns its id, 0 on failure.  Call inside
 * stream_enter() with no row reserved: it writes rows.  Takes no lock that another thread can hold for long; does not call malloc();
 * preserves errno.
 */
uint32_t stacks_capture(struct stream *s, const struct stack_want *w);

/*
 * Interns frames that the caller assembled, innermost first; ignores `extra` of native frames.  flags: STACK_ bits of records.h.  Returns 0
 * when the table is full or the stack could not be described.
 */
uint32_t stacks_intern(struct stream *s, const struct stack_frame *f, uint32_t n, uint32_t flags);

/* Applies the settings.  Call once in a process, after session_connect(), not on a hot path: it calls the loader. */
void stacks_start(void);

/* Call from time to time on a thread of this object: loads libunwind if it is needed, and looks for an interpreter. */
void stacks_look(void);

/* Classes of CUDA calls: bits of setting cuda_backtrace, in this order. */
enum stacks_class { STACKS_KERNEL, STACKS_MEMORY, STACKS_SYNC, STACKS_OTHER, N_STACKS_CLASSES };

/* Shortest duration, in ticks of clock_now(), of a call whose stack is captured; INT64_MAX: none is. */
extern int64_t stacks_slow[N_STACKS_CLASSES];

/* Captures and records the stack at the start of a range that --nvtx-backtrace names. */
void stacks_range(struct stream *s, uint64_t range);

/* Records that the range started on this stack.  stack 0: writes nothing. */
void stacks_note(struct stream *s, uint64_t range, uint32_t stack);

#endif
