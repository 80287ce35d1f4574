/* The line that every process writes once, so that the trace can list processes that never recorded anything. */
#ifndef INJECT_ROSTER_H
#define INJECT_ROSTER_H

#include <stdint.h>

/* Open, one write, close: about a microsecond (wire.h has the format).  Async-signal-safe; keeps errno; may fail silently. */
void roster_line(const char *folder, char how, int64_t start, const char *name);

/* The line of a process that could not connect; error: why. */
void roster_failed(const char *folder, int64_t start, int error);

/* The line of one that ends while so many of its rows could not go through the pipe. */
void roster_left(const char *folder, int64_t start, uint64_t rows);

#endif
