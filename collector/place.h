/* Finds a file name for the trace that can be written: never another trace's, and never at the cost of the job. */
#ifndef COLLECTOR_PLACE_H
#define COLLECTOR_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Creates `path`, or if it exists and overwrite is false, NAME.2.gtrace and so on; `used` gets the name.  Returns a descriptor, or -1 with
 * errno.
 */
int place_create(const char *path, bool overwrite, char *used, size_t size);

/* As place_create(), with the same file name in TMPDIR, else in /tmp. */
int place_create_elsewhere(const char *path, char *used, size_t size);

/* "dir/run.gtrace" -> "dir/run.gtrace.log".  Not run.log: users redirect the program's output there. */
void place_log(const char *path, char *log, size_t size);

#endif
