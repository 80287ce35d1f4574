/* Finding a file name that can be written: never over another trace, never at the cost of the job. */
#ifndef COLLECTOR_PLACE_H
#define COLLECTOR_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Creates `path`, or NAME.2.gtrace and so on where it exists and overwrite is not set; used gets the name.  Descriptor
 * or -1.
 */
int place_create(const char *path, bool overwrite, char *used, size_t size);

/* The same file name in TMPDIR, or /tmp.  Descriptor or -1. */
int place_create_elsewhere(const char *path, char *used, size_t size);

/* "dir/run.gtrace" -> "dir/run.log" */
void place_log(const char *path, char *log, size_t size);

#endif
