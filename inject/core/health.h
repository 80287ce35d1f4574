/* Counts what could not be recorded, in the arena's header, where the counts survive a kill.  Never fails, never prints.  Any thread. */
#ifndef INJECT_CORE_HEALTH_H
#define INJECT_CORE_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#include "trace/health.h"
#include "trace/wire.h"

/* Adds 1, or n, to a reason's count.  Async-signal-safe; does nothing while there is no arena. */
void health_count(enum health_reason reason);
void health_add(enum health_reason reason, uint64_t n);

/*
 * Adds 1 and, the first time, stores the formatted text as the reason's detail (cut to its 100 bytes).  Connects to the collector if
 * needed, so that a process that records nothing else still reports this.  Keeps errno; not in signal handlers.
 */
void health_note(enum health_reason reason, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds n and replaces the reason's detail.  Connects if needed.  One thread at a time per reason; keeps errno. */
void health_restate(enum health_reason reason, uint64_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* n rows of this record kind were not kept. */
void health_drop(unsigned kind, uint64_t n);

/* Adds one event of profiler overhead at `place`, from start (clock_now()) until now. */
void health_cost(enum cost_place place, int64_t start);

#endif
