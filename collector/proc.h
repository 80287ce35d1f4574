/* Reading /proc/PID/. */
#ifndef COLLECTOR_PROC_H
#define COLLECTOR_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/buf.h"

/* Up to size bytes of /proc/PID/NAME.  Their number or -1. */
ssize_t proc_read(uint32_t pid, const char *name, char *out, size_t size);

/* All of it, up to max, appended to out.  0 or -1. */
int proc_read_all(uint32_t pid, const char *name, struct buf *out, size_t max);

/* Where the link /proc/PID/NAME points; "" when it cannot be told. */
void proc_link(uint32_t pid, const char *name, char *out, size_t size);

#endif
