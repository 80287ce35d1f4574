/*
 * Working memory for hooks: frames of a call stack, a path, a text.  The program's stack may be that of a coroutine or of a signal
 * handler, with some hundred bytes left, so large objects do not go there.  The stack pointer stays on the program's stack: its handlers,
 * its longjmp() and its alternate signal stack work as usual.
 *
 * 	struct walk *w = scratch_push(sizeof *w);
 * 	if (!w)
 * 		return 0;               // counted
 * 	...
 * 	scratch_pop(w);
 *
 * A thread owns its memory from its first push to its last pop.  Rooms are popped in reverse order, also by a signal handler that
 * interrupts.  A handler that leaves by longjmp leaks the rooms that it interrupted, as it leaves the thread's stream busy.  No locks; one
 * mapping for each thread that is inside at the same time.
 */
#ifndef INJECT_CORE_SCRATCH_H
#define INJECT_CORE_SCRATCH_H

#include <stddef.h>

/* Returns a room of `size` bytes, not zeroed, 16-byte aligned.  NULL (counted): no memory, or too many threads. */
void *scratch_push(size_t size);

/* Frees the innermost room, which must be p.  NULL: does nothing. */
void scratch_pop(void *p);

/* Call in a forked child: frees all rooms, as the parent's threads do not exist there. */
void scratch_forked(void);

#endif
