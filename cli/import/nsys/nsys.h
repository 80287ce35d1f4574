/* Reads SQLite exports of nsys (nsys export --type sqlite), one process after the other. */
#ifndef CLI_IMPORT_NSYS_NSYS_H
#define CLI_IMPORT_NSYS_NSYS_H

#include <stdbool.h>

#include "trace/buf.h"

struct kineto;
struct sqlite;
struct trace_error;

/* Appends the globalPid (int64_t) of each process with rows to list.  0, or -1 with *err set: also if there is none. */
int nsys_processes(struct sqlite *db, const char *path, struct buf *list, struct trace_error *err);

/* Adds the rows of one process to *k.  first: also counts the tables that are not read.  0, or -1 with *k->err set. */
int nsys_read(struct kineto *k, struct sqlite *db, int64_t pid, bool first);

#endif
