/*
 * The trace file NAME.gtrace: header | chunks | index | footer.  This side writes; reader.h reads.  All numbers little
 * endian.
 *
 * Append-only: a file without index and footer is complete up to its last whole chunk.  A chunk is one record kind of
 * one process. Every part starts at a multiple of 8.  Knows chunks, not sessions.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "trace/columns.h"
#include "trace/error.h"

#define FILE_MAGIC   "gtrace\r\n"       /* the line end shows a transfer in text mode */
#define FILE_VERSION 1u
#define CHUNK_MAGIC  0x6b6e756863746721ull
#define FOOTER_MAGIC 0x646e656563617274ull
#define ROW_INDEX    0xffffu            /* kind of the index chunk: struct index_entry[rows], not columns */

struct file_header {
	char magic[8];
	uint32_t version, size;         /* FILE_VERSION, sizeof(struct file_header) */
	uint64_t session;               /* random, repeated in every chunk */
	uint8_t boot_id[16];
	int64_t start_real, start_mono; /* ns, when the session started */
	char host[64];                  /* zero-terminated */
	uint32_t reserved;
	uint32_t crc;                   /* of all bytes before it */
};

struct chunk_header {
	uint64_t magic, session;
	uint16_t kind;                  /* enum record_kind, or ROW_INDEX */
	uint8_t clock, version;         /* enum wire_clock of TIME fields; 1 */
	uint32_t process;               /* process number */
	uint32_t rows, columns;
	int64_t first, last;            /* smallest and largest first TIME or GTIME field, raw; 0, 0 without one */
	uint32_t stored, raw;           /* bytes of the body; bytes of the rows and tails in memory */
	uint32_t body_crc, crc;         /* of the body; of the header before it */
};

struct index_entry {
	uint64_t offset;                /* of the chunk header */
	struct chunk_header head;       /* with magic 0 on disk, so that a search for chunks does not find it */
};

/* Last 24 bytes of a finished file. */
struct file_footer {
	uint64_t index;                 /* offset of the index chunk's header */
	uint64_t magic;
	uint32_t chunks, crc;           /* chunks in the index; of the bytes before it */
};

/* CRC-32 (zlib's polynomial), continued from crc; start with 0. */
uint32_t crc32_of(uint32_t crc, const void *p, size_t n);

struct writer;

/* Fills first and last of the header of a chunk with these rows. */
void chunk_times(struct chunk_header *h, const struct record *r, const void *rows, size_t n);

/*
 * Writes a new file to fd, which the writer then owns (also when it fails).  *h: session, boot_id, start_*, host are
 * the caller's.
 */
struct writer *writer_new(int fd, const struct file_header *h, struct trace_error *err);

/*
 * Goes on with a finished file whose index began at `at`, which is cut off first: until writer_finish() the file is
 * like one that is still being written.  entries: what the index had.  fd as above.
 */
struct writer *writer_continue(int fd, uint64_t session, uint64_t at, const struct index_entry *entries, size_t n,
			       struct trace_error *err);

/*
 * One chunk.  rows and tails as in columns_encode(); clock is that of the record's TIME fields (GTIME fields are
 * CLOCK_REAL). 0, or -1: the write failed, e.g. disk full; then the file has been cut back to the end of the chunk
 * before and the writer is still good for another try.
 */
int writer_rows(struct writer *w, uint32_t process, unsigned clock, const struct record *r, const void *rows, size_t n,
		const uint8_t *tails, size_t tail_bytes, struct trace_error *err);

/*
 * One chunk of n rows without tails that columns_encode() has made a body of, with so many columns, of a record without
 * times.  0 or -1 as above.
 */
int writer_packed(struct writer *w, uint32_t process, unsigned clock, const struct record *r, size_t n, unsigned columns,
		  const uint8_t *body, size_t size, struct trace_error *err);

/* Bytes in the file so far. */
uint64_t writer_size(const struct writer *w);

/* Index, footer, close, free.  0, or -1 (the file is then readable without an index). */
int writer_finish(struct writer *w, struct trace_error *err);

/*
 * For recover: a header (magic, version, size and checksum are filled in), and index plus footer at offset `at`.  0 or
 * -1; a failed index leaves the file ending at `at`.
 */
int file_write_header(int fd, struct file_header *h, struct trace_error *err);
int file_write_index(int fd, uint64_t at, uint64_t session, const struct index_entry *entries, size_t n,
		     struct trace_error *err);

/* Close and free without index (a test of the crash path, or after a failure). */
void writer_abandon(struct writer *w);

#endif
