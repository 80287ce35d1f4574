/*
 * Call stacks: the frames of the calling thread, native and Python, become an id; each distinct stack is described to the collector
 * once in a process, before its first use, and so are the images and code objects that it names.
 *
 * Two stacks are one when all their frames are: kept is a hash of 64 bits of the frames, not the frames.  Among the at most 2^18 that
 * a process may describe two share an id by accident with a chance of 2 in 10^9.
 */
#ifndef INJECT_STACKS_H
#define INJECT_STACKS_H

#include "inject/stream.h"

/* What is wanted of a stack. */
struct stack_want {
	uint32_t depth;                 /* frames at most, the innermost ones; 0: as set */
	uint32_t flags;                 /* STACK_NATIVE, STACK_PYTHON; 0: native ones, and Python's as set */
	const void *context;            /* in a signal handler: its third argument, and the interrupted stack is meant; else NULL */
};

/*
 * The stack of the calling thread, from the caller of the first function of ours or CUPTI's on; 0: none.  Inside a stream, with nothing
 * reserved: it writes rows.  Takes no lock that another thread can hold for long, allocates nothing that malloc() knows; errno is kept.
 */
uint32_t stacks_capture(struct stream *s, const struct stack_want *w);

/*
 * Frames put together by the caller, innermost first; `extra` of native ones is filled in here, from the value.  Flags: STACK_ of
 * records.h; 0: the table is full, or it could not be described.
 */
uint32_t stacks_intern(struct stream *s, const struct stack_frame *f, uint32_t n, uint32_t flags);

/* Gets ready, from the settings; once in a process, not on a hot path: it asks the loader.  After session_connect(). */
void stacks_start(void);

/* From time to time on a thread of ours: loads what was found to be needed, looks for an interpreter. */
void stacks_look(void);

/* Classes of CUDA calls: bits of setting cuda_backtrace, in this order. */
enum stacks_class { STACKS_KERNEL, STACKS_MEMORY, STACKS_SYNC, STACKS_OTHER, N_STACKS_CLASSES };

/* Shortest duration, in ticks of clock_now(), of a call whose stack is taken; INT64_MAX: none is. */
extern int64_t stacks_slow[N_STACKS_CLASSES];

/* A range with this id begins, whose name --nvtx-backtrace asks for. */
void stacks_range(struct stream *s, uint64_t range);

/* The range with this id began on this stack; 0: not known. */
void stacks_note(struct stream *s, uint64_t range, uint32_t stack);

#endif
