/* More rows for a finished trace. */
#ifndef TRACE_APPEND_H
#define TRACE_APPEND_H

#include "trace/error.h"

struct trace;
struct writer;

/*
 * Opens the file for trace_append(), and keeps writers and others who want to change it out until it is closed.  A descriptor,
 * or -1.
 */
int trace_open_to_append(const char *path, struct trace_error *err);

/*
 * write() puts chunks behind those of the trace, by writer_rows(); `room` bytes at most.  t: the same file, opened
 * after the descriptor; it is not valid any more afterwards.  Closes fd.
 *
 * 0, or -1: the file is as it was (unless it could not be written at all any more).  A crash on the way leaves a file
 * without index, to be read, or recovered, as one whose recording was cut off.
 */
int trace_append(const struct trace *t, int fd, uint64_t room,
		 int (*write)(struct writer *w, void *arg, struct trace_error *err), void *arg, struct trace_error *err);

#endif
