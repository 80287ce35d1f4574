/* struct trace_error: an error of trace/, for the caller to print.  Only the first failure is kept. */
#ifndef TRACE_ERROR_H
#define TRACE_ERROR_H

#include <stdint.h>

struct trace_error {
	uint64_t offset;        /* byte in the file, 0 where it has no meaning */
	char text[512];         /* "" if nothing failed; else the message, without the program's name */
};

/* Fills *err (may be NULL) unless it already holds a failure.  Returns -1 always, so that a caller can return the result. */
int trace_fail(struct trace_error *err, uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
