/*
 * Imports traces of other profilers: Kineto JSON (torch.profiler, HTA, dynolog), plain or compressed with gzip or zstd, and
 * SQLite exports of nsys.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/error.h"

/* Reasons why a part of a file was not imported, or was imported with a change. */
enum import_count {
	COUNT_CUT,                      /* the file is truncated */
	COUNT_BROKEN,                   /* invalid JSON, or JSON that is not an event */
	COUNT_CATEGORY,                 /* events of an unknown category ("cat") */
	COUNT_PHASE,                    /* events with an unknown phase ("ph") or without one, and ends without a begin */
	COUNT_TIME,                     /* events without a time, or with a time that is not a number */
	COUNT_NEGATIVE,                 /* durations below 0 */
	COUNT_CROSSING,                 /* host rows that overlap a row of their thread without nesting */
	COUNT_VALUE,                    /* values of an unexpected type or range */
	COUNT_QUOTES,                   /* unescaped quotes inside texts */
	COUNT_TABLE,                    /* rows in tables that are not read */
	N_IMPORT_COUNTS
};

struct import_file {
	const char *path;
	uint64_t bytes, unpacked, events, rows; /* bytes: size of the file; unpacked: bytes read, after decompression */
	int64_t rank, world;            /* -1: not in the file */
	char trouble[300];              /* one line of the counts above 0; "": none */
};

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
