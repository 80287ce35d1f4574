/* struct trace_error: what went wrong in trace/, for the caller to print.  The first failure stays. */
#ifndef TRACE_ERROR_H
#define TRACE_ERROR_H

#include <stdint.h>

struct trace_error {
	uint64_t offset;        /* byte in the file, 0 where it has no meaning */
	char text[512];         /* "" while nothing failed; else ready to print, without a program's name */
};

/* Fills *err (may be NULL) unless it already holds a failure.  Always -1, so that a caller can return it. */
int trace_fail(struct trace_error *err, uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
