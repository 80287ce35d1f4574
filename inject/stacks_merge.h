/* One stack of the native and the Python frames of a thread.  For stacks.c alone. */
#ifndef INJECT_STACKS_MERGE_H
#define INJECT_STACKS_MERGE_H

#include "inject/python.h"
#include "inject/unwind.h"

struct stacks_python {
	const struct py_frame *frames;  /* as python_walk() gave them */
	uint32_t n;
	bool cut;                       /* there are more */
	bool guarded;                   /* in a signal handler */
};

/*
 * The frames to keep, innermost first, at most `most`, of the native ones from `first` on; *flags as for stacks_intern().  Describes code
 * objects: nothing may be reserved.
 */
uint32_t stacks_merge(struct stream *s, struct stack_frame *out, uint32_t most, const struct unwind_walk *w, uint32_t first,
		      const struct stacks_python *python, uint32_t *flags);

#endif
