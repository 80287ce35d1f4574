/*
 * Guests that stopped waiting for the collector's answer, and went on with memory of their own (inject/core/late.h): shared memory that comes
 * after the hello on the same connection, or frames of the pipe, of which the first is the hello.
 */
#ifndef COLLECTOR_LATE_H
#define COLLECTOR_LATE_H

#include "collector/tree.h"
#include "trace/frame.h"

/* Adopts shared memory of `size` bytes that p made; the caller closes the descriptor.  If p is over, takes all its rows at once. */
void late_adopt(struct tree *t, struct tree_process *p, uint64_t size, int memory);

/* Handles a FRAME_HELLO.  False: it is invalid. */
bool late_hello(struct tree *t, const struct frame *f, const void *body);

/* Returns the process whose frames have this number, which the guest chose itself; NULL: none. */
struct tree_process *late_find(const struct tree *t, uint32_t number);

#endif
