/*
 * Imports traces of other profilers: Kineto JSON (torch.profiler, HTA, dynolog), plain or compressed with gzip or zstd, and
 * SQLite exports of nsys.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/import/rows/import_file.h"
#include "trace/error.h"

struct import {
	const char *const *paths;
	size_t n;
	struct import_file *files;      /* n of them; set by the functions below */
};

/*
 * Imports all files, in order, into a new trace that is written to fd.  Takes fd: it is closed on failure too.  Returns 0,
 * or -1 with *err set.
 */
int import_files(struct import *im, int fd, struct trace_error *err);

struct trace;
/* As import_files(), into *t: a trace in memory, called name, which the caller closes.  On failure *t is closed. */
int import_rows(struct import *im, const char *name, struct trace *t, struct trace_error *err);

/* Whether import_files() is to read the file: JSON, SQLite, gzip, zstd or a pipe.  False for folders and unreadable files. */
bool import_is_foreign(const char *path);

/*
 * Whether the file may be a Kineto trace, judged by its first MiB after decompression.  False: it is not JSON, or it is
 * JSON that ends within this MiB without an event.  True for a file that cannot be read: its reader reports the error.
 */
bool import_may_be_trace(const char *path);

#endif
