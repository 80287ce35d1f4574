/*
 * What PyTorch keeps for us between a record's begin and its end: which range it is.  PyTorch takes it for an object of a class of its own and
 * deletes it, on whatever thread the record ends; it lies in a table and is only marked as free.
 */
#ifndef INJECT_TORCH_CONTEXT_H
#define INJECT_TORCH_CONTEXT_H

#include "inject/ranges.h"

/*
 * LEFT: ended elsewhere, its range is still on the stack of its thread.  TIDIED: no more, and PyTorch has not deleted it yet.  DELETED: it
 * has, before its thread tidied.
 */
enum torch_state { CONTEXT_FREE, CONTEXT_USED, CONTEXT_LEFT, CONTEXT_TIDIED, CONTEXT_DELETED };

struct torch_context {
	const void *vtable;             /* PyTorch's */
	uint32_t state;                 /* enum torch_state */
	uint32_t epoch;                 /* of the process that it was made in */
	uint64_t id;                    /* of the range; 0: one of the process, by its handle */
	uint64_t handle;                /* of ranges_start() */
	int64_t start;
	uint32_t name, thread;
	uint32_t tag;                   /* of the range */
	uint32_t event;                 /* enum torchsteps_event: what its end is to steps */
};

/* Memory for them, once; false: there is none, and nothing can be observed. */
bool torch_contexts_ready(void);

/* A free one for a range that this thread begins; NULL: there is none. */
struct torch_context *torch_context_take(struct stream *s);

/* Not given to PyTorch after all. */
void torch_context_give(struct torch_context *c);

/* Takes ranges that other threads have ended from this thread's stack. */
void torch_context_tidy(struct stream *s);

/*
 * To be ended by another thread than its own, which is to take it from its stack.  False: that one is gone, and has written its range as
 * incomplete.
 */
bool torch_context_leave(struct torch_context *c);

#endif
