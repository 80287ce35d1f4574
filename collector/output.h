/*
 * The trace file as a thing on somebody's disk: where it is opened, how large it may get, what still goes in when there
 * is no more room.  An output name never costs a job, and a trace never fills a disk.
 */
#ifndef COLLECTOR_OUTPUT_H
#define COLLECTOR_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

#include "collector/troubles.h"
#include "trace/config.h"
#include "trace/file.h"

/* What still goes in, in the order in which it is given up. */
enum output_level {
	OUTPUT_ALL,
	OUTPUT_NO_DETAIL,               /* API, GPU rows and marks are counted */
	OUTPUT_SESSION,                 /* ranges and definitions too; left: processes, health, clocks */
};

struct output {
	struct writer *writer;          /* NULL: not open */
	int fd;                         /* a second descriptor of the file, to ask and trim by */
	enum output_level level;
	bool reserves;                  /* the file system can set room aside */
	uint64_t reserved;              /* bytes of the file that have their room for sure */
	uint64_t checked;               /* size when the file system was asked for its room */
	uint64_t max_size;              /* 0: no limit */
	bool has_stacks;                /* call stacks are among the rows */
	uint64_t staged;                /* bytes that all staging for this file takes */
	struct troubles *troubles;      /* of the session */
	char path[PATH_MAX];            /* where the trace is */
	char moved_from[PATH_MAX];      /* where it was asked for, when it could not be there; else "" */
};

#define OUTPUT_INIT { .fd = -1 }

/*
 * Opens c->output, or NAME.2.gtrace where that exists (unless c->overwrite), or the same in TMPDIR where it cannot be
 * written.  troubles is kept: what goes wrong is counted there.  0 or -1.
 */
int output_open(struct output *o, const struct config *c, const struct file_header *h, struct troubles *troubles);

/* writer_rows() as far as there is room.  0, or -1: not kept, for the caller to count. */
int output_rows(struct output *o, uint32_t process, unsigned clock, const struct record *r, const void *rows, size_t n,
		const uint8_t *tails, size_t tail_bytes);

/* Looks at the room on the file system; once a second. */
void output_check_room(struct output *o);

/*
 * Index, footer.  A file that was removed while it was written is saved under its name or in TMPDIR; then path is the
 * new place.  0, or -1: the file has no index (or is lost; the log says which).
 */
int output_close(struct output *o);

#endif
