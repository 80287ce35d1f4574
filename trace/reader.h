/*
 * Reading a trace file: finished, still being written, cut off or damaged.  The only place that turns clocks into trace
 * time. Knows chunks and columns, not what they mean (except clock rows, which it needs).
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <stdbool.h>

#include "trace/clock.h"
#include "trace/file.h"

struct chunk {
	uint64_t offset;                /* of its header in the file */
	struct chunk_header head;
	const struct record *record;    /* NULL: a kind this program does not know */
	bool bad;                       /* its body failed its checksum when it was read or checked; skip it */
	bool checked, head_checked;     /* the reader's own: the body's checksum was right, the header was compared */
	const uint8_t *rows, *tails;    /* of a trace in memory: structs of record, in trace time; NULL: it is in the file */
	size_t tail_bytes;
};

/* Something in the file that cannot be read.  text names it: "chunk of 512 kernel rows of process 3", "317 bytes". */
struct damage {
	uint64_t offset, bytes;
	uint64_t rows;                  /* lost rows where the index or its own header knows, else 0 */
	char text[160];
};

struct trace {
	const uint8_t *map;
	uint64_t size;
	int fd;
	char *path;                     /* owned */
	struct file_header header;
	struct chunk *chunks;           /* in file order */
	size_t n_chunks;
	struct damage *damage;
	size_t n_damage;
	bool finished;                  /* has its index and footer */
	struct clock_map clock;
	size_t cap_chunks;              /* of a trace in memory */
	void **kept;
	size_t n_kept;
};

#define TRACE_INIT { .fd = -1 }

enum trace_open_flags {
	TRACE_ANY_HEADER = 1,           /* go on with a damaged header (recover): host and start are then empty */
};

/*
 * Opens and lists all chunks; reads none but the clock rows.  0 or -1.  trace_close() accepts anything trace_open()
 * left.
 */
int trace_open(struct trace *t, const char *path, unsigned flags, struct trace_error *err);
void trace_close(struct trace *t);

/* Reads and checks every chunk's body; adds to damage.  Returns the number of damaged places. */
size_t trace_check(struct trace *t);

/*
 * Field f of all rows of a chunk, in trace time where its unit is a time, into out: head.rows values of the field's own
 * width. 0, or -1: the chunk is damaged (now bad, and listed in damage).  Thread-safe for different chunks only.
 */
int trace_column(struct trace *t, struct chunk *c, unsigned f, void *out);

/*
 * The fields `start` and `duration` of all rows, as trace_column() gives them, for less than it takes to ask for each:
 * head.rows values into both.  0, or -1: damaged as above, or the record has not both.
 */
int trace_spans(struct trace *t, struct chunk *c, int64_t *starts, int64_t *lengths);

/* All tails of a chunk, one after the other; their lengths are the field of unit LEN.  0 or -1 as above. */
int trace_tails(struct trace *t, struct chunk *c, struct buf *out);

/* Whole rows: head.rows structs of c->record into rows, times converted. */
int trace_rows(struct trace *t, struct chunk *c, void *rows);

/*
 * A trace that is in memory alone, to be filled and then read like any other.  Its times are trace time already.  path:
 * what it is called; h: start and host are the caller's.  0, or -1: out of memory; trace_close() in either case.
 */
int trace_begin(struct trace *t, const char *path, const struct file_header *h);

/* One chunk.  Rows and tails as in writer_rows(), but they are not copied.  0, or -1: out of memory. */
int trace_add(struct trace *t, uint32_t process, const struct record *r, const void *rows, size_t n, const uint8_t *tails,
	      size_t tail_bytes);

/* The trace is to free() this when it is closed.  0, or -1: out of memory, and it is still the caller's. */
int trace_keep(struct trace *t, void *memory);

/*
 * Rebuilds header, index and footer of the file at path so that all whole chunks are found again; damaged bytes stay
 * where they are and are named in the index by absence.  Returns the number of chunks saved, or -1.
 */
long trace_recover(const char *path, struct trace_error *err);

#endif
