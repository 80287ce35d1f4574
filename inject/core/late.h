/*
 * A process that the collector did not answer in time continues with an arena that it makes itself and with the board's settings and
 * orders.  The collector learns of the arena when it reads the hello: through the connection, or, where memory cannot be shared, through
 * the pipe.  Called by the connecting thread.
 */
#ifndef INJECT_CORE_LATE_H
#define INJECT_CORE_LATE_H

#include "trace/layout.h"

/* The process number for such a process, with WIRE_LATE set: the collector assigns no such numbers. */
uint32_t late_number(const struct wire_hello *h);

/* Fills in the welcome that the collector would have sent.  0, or -1 and errno: there is no board. */
int late_welcome(struct wire_welcome *w, const struct wire_hello *h);

/* Fills in the header of an empty arena, with the board's orders if there is a board. */
void late_begin(struct arena *a, const struct wire_welcome *w);

/* Makes shared memory of `size` bytes, sealed against resizing.  Returns its descriptor, which the caller closes, or -1 and errno. */
int late_memory(uint64_t size);

/*
 * Sends the descriptor `memory` through the connection.  0, or -1 and errno.  A user's descriptors in flight are limited (ETOOMANYREFS):
 * tries again until the deadline (MONOTONIC ns), since the collector keeps receiving from other connections.
 */
int late_send(int connection, int memory, uint64_t size, int64_t deadline);

#endif
