/* Merges the native and the Python frames of a thread into one stack.  Private to stacks.c. */
#ifndef INJECT_STACKS_STACKS_MERGE_H
#define INJECT_STACKS_STACKS_MERGE_H

#include "inject/python/python.h"
#include "inject/unwind/unwind.h"

struct stacks_python {
	const struct py_frame *frames;  /* from python_walk() */
	uint32_t n;
	bool cut;                       /* the walk stopped at its limit */
	bool guarded;                   /* the frames may not refer to code objects */
};

/*
 * Writes at most `most` frames, innermost first, beginning with native frame `first`.  Returns their number; *flags: for stacks_intern().
 * Writes rows of code objects: no row may be reserved.
 */
uint32_t stacks_merge(struct stream *s, struct stack_frame *out, uint32_t most, const struct unwind_walk *w, uint32_t first,
		      const struct stacks_python *python, uint32_t *flags);

#endif
