/*
 * Layout and writer of the trace file NAME.gtrace: header | chunks | index | footer.  The reader is reader.h.  All numbers are
 * little endian.
 *
 * Append-only: a file without index and footer is complete up to its last whole chunk.  A chunk holds rows of one record kind
 * of one process.  Every part starts at a multiple of 8.  Knows chunks, not sessions.
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
	uint32_t crc;                   /* of all bytes of the header before this field */
};

struct chunk_header {
	uint64_t magic, session;
	uint16_t kind;                  /* enum record_kind, or ROW_INDEX */
	uint8_t clock, version;         /* enum wire_clock of TIME fields; version of the body, 1 */
	uint32_t process;               /* process number */
	uint32_t rows, columns;
	int64_t first, last;            /* smallest and largest value of the first TIME or GTIME field, not converted; 0, 0: none */
	uint32_t stored, raw;           /* bytes of the body; bytes of the rows and tails in memory */
	uint32_t body_crc, crc;         /* checksum of the body; of the header before crc */
};

struct index_entry {
	uint64_t offset;                /* of the chunk header */
	struct chunk_header head;       /* copy, with magic 0 on disk so that a search for chunks skips it */
};

/* Last 24 bytes of a finished file. */
struct file_footer {
	uint64_t index;                 /* offset of the index chunk's header */
	uint64_t magic;
	uint32_t chunks, crc;           /* chunks in the index; checksum of the bytes before crc */
};

/* CRC-32 (zlib's polynomial) of n bytes at p, continued from crc; start with crc 0. */
uint32_t crc32_of(uint32_t crc, const void *p, size_t n);

struct writer;

/* Sets h->first and h->last from n rows of r; leaves them unchanged if no row has a time. */
void chunk_times(struct chunk_header *h, const struct record *r, const void *rows, size_t n);

/*
 * Starts a new file on fd.  fd belongs to the writer, and is closed on failure.  *h: the caller fills in session, boot_id, start_* and
 * host.  Returns NULL on failure.
 */
struct writer *writer_new(int fd, const struct file_header *h, struct trace_error *err);

/*
 * Continues a finished file: cuts off its index, which begins at `at`; until writer_finish() the file looks like one still being
 * written.  entries: the n entries of that index, copied.  fd and result as in writer_new().
 */
struct writer *writer_continue(int fd, uint64_t session, uint64_t at, const struct index_entry *entries, size_t n,
			       struct trace_error *err);

/*
 * Writes one chunk; nothing if n is 0.  rows and tails as in columns_encode(); clock is that of the record's TIME fields (GTIME fields
 * are always CLOCK_REAL).  Returns 0, or -1: the write failed, e.g. disk full; the file then ends with the previous chunk, and the call
 * can be repeated.
 */
int writer_rows(struct writer *w, uint32_t process, unsigned clock, const struct record *r, const void *rows, size_t n,
		const uint8_t *tails, size_t tail_bytes, struct trace_error *err);

/*
 * Writes one chunk whose body, of size bytes and `columns` columns, was made by columns_encode() from n rows without tails of a record
 * without times.  Returns as writer_rows().
 */
int writer_packed(struct writer *w, uint32_t process, unsigned clock, const struct record *r, size_t n, unsigned columns,
		  const uint8_t *body, size_t size, struct trace_error *err);

/* Bytes in the file so far. */
uint64_t writer_size(const struct writer *w);

/* Writes index and footer, closes the file, frees the writer.  Returns 0, or -1: the file has no index but is readable. */
int writer_finish(struct writer *w, struct trace_error *err);

/*
 * For recover: writes the header *h (fills in magic, version, size and checksum), and index plus footer at offset `at`.  Both return 0
 * or -1; if writing the index fails, the file ends at `at`.
 */
int file_write_header(int fd, struct file_header *h, struct trace_error *err);
int file_write_index(int fd, uint64_t at, uint64_t session, const struct index_entry *entries, size_t n,
		     struct trace_error *err);

/* Closes the file without index and frees the writer: after a failure, or to test a crash. */
void writer_abandon(struct writer *w);

#endif
