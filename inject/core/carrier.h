/*
 * Carries rows to the collector where memory cannot be shared: the arena is private, and the carrier thread sends what is new through the
 * session's pipe (trace/frame.h), ten times a second and whenever a block is full.  Code that writes rows is the same for both kinds of
 * arena.
 *
 * No thread of the program waits for the pipe, except at the process's end: 2 s at most in all.
 */
#ifndef INJECT_CORE_CARRIER_H
#define INJECT_CORE_CARRIER_H

#include <stdbool.h>

#include "trace/wire.h"

struct carrier;

/*
 * Makes the private arena that the welcome describes and sets guest->arena, guest->bell and guest->carrier.  late: the hello that got no
 * answer, to be sent as the first frame; NULL: it was answered.  wiped: forked children do not see guest, so the arena is not copied into
 * them.  0, or -1 and errno.  Called by the connecting thread.
 */
int carrier_open(const char *folder, const struct wire_welcome *w, const struct wire_hello *late, bool wiped);

/*
 * Starts the carrier thread.  Called by the connecting thread after carrier_open().  Where no thread can be made, the threads that hand
 * over blocks send.
 */
void carrier_start(void);

/* A block was handed over: sends it if there is no carrier thread.  Any thread; keeps errno. */
void carrier_rang(void);

/* Sends all rows published so far, within the rest of the 2 s.  Does nothing where the arena is shared; keeps errno. */
void carrier_finish(void);

/*
 * Ends the carrier thread, as main() calls pthread_exit().  Otherwise it could become the last thread, which ends the process and flushes
 * the program's stdio buffers, and its descriptor table is not the program's.  After this there is no carrier thread: the thread that
 * hands a block over sends it.
 */
void carrier_end_thread(void);

/* In a forked child: closes its copy of the descriptor. */
void carrier_forked(void);

#endif
