/* Counting what could not be recorded, in the arena's header, where it survives a kill.  Never fails, never prints. */
#ifndef INJECT_HEALTH_H
#define INJECT_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#include "trace/health.h"
#include "trace/wire.h"

/* One more of this.  Safe anywhere; nothing while there is no arena. */
void health_count(enum health_reason reason);
void health_add(enum health_reason reason, uint64_t n);

/* One more of this, and what it was, if it is the first.  Connects, so that a process with nothing else to say says this. */
void health_note(enum health_reason reason, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* n more of this, and what is now to be said about all of them. */
void health_restate(enum health_reason reason, uint64_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A row of this kind was not kept. */
void health_drop(unsigned kind, uint64_t n);

/* Our own time, ended now, that began at start (clock_now). */
void health_cost(enum cost_place place, int64_t start);

#endif
