/*
 * The way of rows where memory cannot be shared: the arena is private, and a thread of ours sends what is new through
 * the session's pipe (trace/frame.h), ten times a second and whenever a block is full.  Whoever writes rows knows
 * nothing of it.
 *
 * Nothing here makes a thread of the program wait, except at the process's end, for 2 s at most in all.
 */
#ifndef INJECT_CARRIER_H
#define INJECT_CARRIER_H

#include <stdbool.h>

#include "trace/wire.h"

struct carrier;

/*
 * Makes the private arena that a welcome describes: guest->arena, guest->bell, guest->carrier.  wiped: a child does not
 * see guest, so it need not have the arena either.  0, or -1 and errno.
 */
int carrier_open(const char *folder, const struct wire_welcome *w, bool wiped);

/* Starts to send; the guest is up. */
void carrier_start(void);

/* A block was handed over. */
void carrier_rang(void);

/* What is published so far goes out, if it can within the 2 s.  Nothing where the arena is shared. */
void carrier_finish(void);

/*
 * main() ends by pthread_exit(): our thread ends first.  Else it could be the last one, which ends the process and
 * writes what the program left in its stdio buffers, and its descriptors are not the program's.  From now on those send
 * that hand blocks over.
 */
void carrier_end_thread(void);

/* In a forked child: its copy of a descriptor is closed. */
void carrier_forked(void);

#endif
