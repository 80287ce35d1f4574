/* Reading /proc/PID/. */
#ifndef COLLECTOR_PROC_H
#define COLLECTOR_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/buf.h"

/* Reads up to size bytes of /proc/PID/NAME.  Returns their number, or -1 with errno. */
ssize_t proc_read(uint32_t pid, const char *name, char *out, size_t size);

/* Appends all of it, up to about max bytes, to out.  Returns 0, or -1 with errno. */
int proc_read_all(uint32_t pid, const char *name, struct buf *out, size_t max);

/* Reads the link /proc/PID/NAME; "" when it cannot be read. */
void proc_link(uint32_t pid, const char *name, char *out, size_t size);

#endif
