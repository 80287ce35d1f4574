/*
 * The trace file on the user's disk: where it is created, how large it may get, what is still written when space is short.  An output name
 * never costs a job, and a trace never fills a disk.
 */
#ifndef COLLECTOR_OUTPUT_H
#define COLLECTOR_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

#include "collector/health_counts.h"
#include "trace/config.h"
#include "trace/file.h"

/* What is still written, in the order in which it is given up. */
enum output_level {
	OUTPUT_ALL,
	OUTPUT_NO_DETAIL,               /* API calls, GPU rows, marks and samples are counted, not written */
	OUTPUT_SESSION,                 /* ranges and definitions too; still written: processes, health, clocks */
};

struct output {
	struct writer *writer;          /* NULL: not open */
	int fd;                         /* second descriptor of the file, for statvfs() and ftruncate() */
	enum output_level level;
	bool reserves;                  /* the file system supports fallocate() */
	uint64_t reserved;              /* bytes from the file's start whose space is allocated */
	uint64_t checked;               /* size of the file at the last statvfs() */
	uint64_t max_size;              /* 0: no limit */
	bool has_stacks;                /* rows of call stacks were written */
	uint64_t staged;                /* bytes held by all staging for this file */
	struct health_counts *health_counts; /* of the session */
	char path[PATH_MAX];            /* where the trace is */
	char moved_from[PATH_MAX];      /* the path that was asked for, if it could not be used; else "" */
};

#define OUTPUT_INIT { .fd = -1 }

/*
 * Creates c->output; if it exists, NAME.2.gtrace (unless c->overwrite); if it cannot be written, the same in TMPDIR.  health_counts is
 * borrowed: failures are counted there.  Returns 0, or -1 after fail().
 */
int output_open(struct output *o, const struct config *c, const struct file_header *h, struct health_counts *health_counts);

/* Writes rows (writer_rows()) if there is space for their kind.  Returns 0; -1: not written, the caller counts them. */
int output_rows(struct output *o, uint32_t process, unsigned clock, const struct record *r, const void *rows, size_t n,
		const uint8_t *tails, size_t tail_bytes);

/* Checks the free space of the file system.  Call once a second. */
void output_check_room(struct output *o);

/*
 * Writes index and footer.  A file that was removed while it was written is saved under its name or in TMPDIR; path is then the new one.
 * Returns 0; -1 after fail(): the file has no index, or is lost.
 */
int output_close(struct output *o);

#endif
