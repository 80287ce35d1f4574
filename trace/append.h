/* Appends rows to a finished trace. */
#ifndef TRACE_APPEND_H
#define TRACE_APPEND_H

#include "trace/error.h"

struct trace;
struct writer;

/*
 * Opens the file for trace_append() and locks it against other writers until the descriptor is closed.  Returns the descriptor,
 * or -1.
 */
int trace_open_to_append(const char *path, struct trace_error *err);

/*
 * Calls write(), which appends chunks with writer_rows(), at most `room` bytes.  fd: of trace_open_to_append(); closed here.
 * t: the same file, opened after fd; do not use it afterwards.
 *
 * Returns 0, or -1: the file is unchanged (unless restoring it failed too).  A crash in between leaves a file without index,
 * readable and recoverable like that of an interrupted recording.
 */
int trace_append(const struct trace *t, int fd, uint64_t room,
		 int (*write)(struct writer *w, void *arg, struct trace_error *err), void *arg, struct trace_error *err);

#endif
