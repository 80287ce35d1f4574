/* Traces of other profilers as our own: Kineto's JSON (torch.profiler, HTA, dynolog), plain or packed. */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/error.h"

/* What of a file was not understood. */
enum import_count {
	COUNT_CUT,                      /* the file ends in the middle */
	COUNT_BROKEN,                   /* events that are no JSON */
	COUNT_CATEGORY,                 /* of a category that is not known */
	COUNT_PHASE,                    /* of a kind of event that is not known, or without one */
	COUNT_TIME,                     /* without a time, or one that is no number */
	COUNT_NEGATIVE,                 /* with a duration below 0 */
	COUNT_CROSSING,                 /* host rows that overlap others of their thread without lying inside */
	COUNT_VALUE,                    /* arguments whose value is not of the kind it should be */
	COUNT_QUOTES,                   /* quotes that a text should have escaped */
	COUNT_TABLE,                    /* rows of tables that are not read */
	N_IMPORT_COUNTS
};

struct import_file {
	const char *path;
	uint64_t bytes, unpacked, events, rows;
	int64_t rank, world;            /* -1: not said */
	char trouble[300];              /* what of it was not understood, in a line; "": nothing */
};

struct import {
	const char *const *paths;
	size_t n;
	struct import_file *files;      /* filled in, n of them */
};

/*
 * Writes a new trace to fd, which is closed also where that fails: each file's processes, one file after the other.  0,
 * or -1: *err says why, with the name of the file that it is about.
 */
int import_files(struct import *im, int fd, struct trace_error *err);

struct trace;
/* The same into a trace in memory called name. */
int import_rows(struct import *im, const char *name, struct trace *t, struct trace_error *err);

/* Whether the file is JSON or packed, or comes through a pipe: then it is one for import_files(), if any. */
bool import_is_foreign(const char *path);

/*
 * Whether the file may be one, from its first MiB, unpacked: false for what is no JSON, and for JSON that ends there
 * without an event.  What cannot be read may be one: whoever reads it says why not.
 */
bool import_may_be_trace(const char *path);

#endif
