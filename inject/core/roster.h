/* Announces each process to the collector once, so that the trace also lists processes that recorded nothing. */
#ifndef INJECT_CORE_ROSTER_H
#define INJECT_CORE_ROSTER_H

#include <stdint.h>

/*
 * Announces a program image or a forked child (how: wire.h), at load or in the fork handler.  start: REALTIME ns.  With a board, a forked
 * child makes no system call; other processes wake the collector: open, one write, close, about 1 us.  Async-signal-safe; preserves errno;
 * may fail silently.
 */
void roster_line(const char *folder, char how, uint32_t pid, uint32_t ppid, int64_t start, const char *name);

/* Announces that the process could not connect; error: an errno value. */
void roster_failed(const char *folder, int64_t start, int error);

/* Announces that the process ends with this many rows that could not go through the pipe. */
void roster_left(const char *folder, int64_t start, uint64_t rows);

#endif
