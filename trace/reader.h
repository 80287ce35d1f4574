/*
 * Reads a trace file: finished, still being written, cut off or damaged.  Only the reader converts clocks to trace time.
 * Knows chunks and columns, not their meaning (except clock rows, which it needs for the conversion).
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <stdbool.h>

#include "trace/clock.h"
#include "trace/file.h"

struct chunk {
	uint64_t offset;                /* of its header in the file */
	struct chunk_header head;
	const struct record *record;    /* NULL: unknown kind */
	bool bad;                       /* the body is damaged (found when it was read or checked); skip the chunk */
	bool checked, head_checked;     /* private to the reader: body's checksum was right; header was compared with the index */
	const uint8_t *rows, *tails;    /* trace in memory: structs of record, in trace time.  NULL: the chunk is in the file */
	size_t tail_bytes;
};

/* An unreadable part of the file. */
struct damage {
	uint64_t offset, bytes;
	uint64_t rows;                  /* lost rows, if the index or the chunk's header tells, else 0 */
	char text[160];                 /* "chunk of 512 kernel rows of process 3", "317 bytes" */
};

struct trace {
	const uint8_t *map;
	uint64_t size;
	int fd;
	char *path;                     /* owned */
	struct file_header header;
	struct chunk *chunks;           /* in file order */
	size_t n_chunks, cap_chunks;
	struct damage *damage;
	size_t n_damage, cap_damage;
	bool finished;                  /* has index and footer */
	struct clock_map clock;
	void **kept;                    /* memory of trace_keep() */
	size_t n_kept, cap_kept;
};

#define TRACE_INIT { .fd = -1 }

enum trace_open_flags {
	TRACE_ANY_HEADER = 1,           /* accept a damaged header (recover): host and start are then empty */
	TRACE_ANY_SIZE = 2,             /* accept a file above TRACE_UNPACK_FREE and TRACE_UNPACK_RATIO */
};

/*
 * A column of equal values takes no bytes, so a file of a few kB can declare gigabytes of rows.  A file whose rows take more
 * memory than TRACE_UNPACK_FREE and more than TRACE_UNPACK_RATIO times its size is refused (docs/howto/untrusted-files.md).
 */
#define TRACE_UNPACK_FREE  (64u << 20)
#define TRACE_UNPACK_RATIO 1000u

/*
 * Opens the file and lists its chunks; reads only the clock rows.  flags: TRACE_ANY_ bits.  Returns 0 or -1; trace_close() is needed
 * after 0 and allowed after -1.
 */
int trace_open(struct trace *t, const char *path, unsigned flags, struct trace_error *err);
void trace_close(struct trace *t);

/* Checks the body of every chunk and adds damaged ones to t->damage.  Returns the number of damaged places. */
size_t trace_check(struct trace *t);

/*
 * Reads field f of all rows of a chunk into out: head.rows values of the field's width; times and lengths are converted to trace time.
 * Returns 0, or -1: the chunk is damaged (then c->bad is set and t->damage lists it).  Threads may read different chunks at once.
 */
int trace_column(struct trace *t, struct chunk *c, unsigned f, void *out);

/*
 * Reads the fields `start` and `duration` of all rows, as trace_column() does but faster than two calls: head.rows values each.  Returns
 * 0, or -1: damaged as above, or the record lacks one of the fields.
 */
int trace_spans(struct trace *t, struct chunk *c, int64_t *starts, int64_t *lengths);

/* Appends all tails of a chunk to out, without padding; the field of unit LEN has their lengths.  Returns as trace_column(). */
int trace_tails(struct trace *t, struct chunk *c, struct buf *out);

/* Reads whole rows: head.rows structs of c->record, times converted.  Returns as trace_column(). */
int trace_rows(struct trace *t, struct chunk *c, void *rows);

/*
 * Begins a trace in memory, to be filled by trace_add() and then read like a file.  Its times are trace time.  path: its name, copied.
 * h: the caller fills in start and host.  Returns 0, or -1: out of memory; call trace_close() in both cases.
 */
int trace_begin(struct trace *t, const char *path, const struct file_header *h);

/* Adds one chunk.  Rows and tails as in writer_rows(); not copied, they must live as long as t.  Returns 0, or -1: out of memory. */
int trace_add(struct trace *t, uint32_t process, const struct record *r, const void *rows, size_t n, const uint8_t *tails,
	      size_t tail_bytes);

/* Passes malloc'ed memory to the trace, which frees it in trace_close().  Returns 0, or -1: out of memory, the caller still owns it. */
int trace_keep(struct trace *t, void *memory);

/*
 * Rewrites header, index and footer of the file at path so that the index lists all whole chunks.  Damaged bytes stay in place, without
 * an index entry.  flags: TRACE_ANY_SIZE or 0.  Returns the number of chunks listed, or -1.
 */
long trace_recover(const char *path, unsigned flags, struct trace_error *err);

#endif
