/* What nsys exports as SQLite (nsys export --type sqlite), one process after the other. */
#ifndef IMPORT_NSYS_H
#define IMPORT_NSYS_H

#include <stdbool.h>

#include "trace/buf.h"

struct kineto;
struct sqlite;
struct trace_error;

/* The processes that have rows, as int64_t globalPid each, appended to list.  0 or -1. */
int nsys_processes(struct sqlite *db, const char *path, struct buf *list, struct trace_error *err);

/* Rows of one of them; of the first also what is not read.  0 or -1. */
int nsys_read(struct kineto *k, struct sqlite *db, int64_t pid, bool first);

#endif
