/*
 * The context that PyTorch keeps from a record's start to its end: it identifies the range.  PyTorch deletes it as an object of a C++
 * class, on the thread where the record ends; it is in a table, and deleting only marks it as free.
 */
#ifndef INJECT_TORCH_TORCH_CONTEXT_H
#define INJECT_TORCH_TORCH_CONTEXT_H

#include "inject/ranges/ranges.h"

/*
 * LEFT: ended on another thread, not yet popped by its own.  TIDIED: popped from its thread's stack, not yet deleted by PyTorch.
 * DELETED: deleted by PyTorch, not yet popped.
 */
enum torch_state { CONTEXT_FREE, CONTEXT_USED, CONTEXT_LEFT, CONTEXT_TIDIED, CONTEXT_DELETED };

struct torch_context {
	const void *vtable;             /* for PyTorch */
	uint32_t state;                 /* enum torch_state */
	uint32_t epoch;                 /* of the process that took it */
	uint64_t id;                    /* of the range */
	uint64_t handle;                /* of ranges_start(), if the range may end on any thread; 0: a push/pop range */
	int64_t start;
	uint32_t name, thread;
	uint32_t tag;                   /* of the range */
	uint32_t event;                 /* enum torchsteps_event: what the range's end means for steps */
};

/* Maps the table, once.  False: no memory; nothing can be observed. */
bool torch_contexts_ready(void);

/* Returns a free context for a range that this thread begins; NULL: none is free (counted). */
struct torch_context *torch_context_take(struct stream *s);

/* Frees a context that was not given to PyTorch. */
void torch_context_give(struct torch_context *c);

/* Pops the ranges of this thread that other threads have ended. */
void torch_context_tidy(struct stream *s);

/*
 * Call when another thread than its own ends the range: its own thread then pops it.  False: that thread has ended, and has written the
 * range as incomplete.
 */
bool torch_context_leave(struct torch_context *c);

#endif
