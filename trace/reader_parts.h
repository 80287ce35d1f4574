/* Private to the reader: shared by reader.c, scan.c, rows.c, recover.c and append.c. */
#ifndef TRACE_READER_PARTS_H
#define TRACE_READER_PARTS_H

#include "trace/reader.h"

/* Contents of the file at an offset. */
enum part {
	PART_NONE,                      /* no chunk header, or a damaged one */
	PART_CUT,                       /* a valid header whose body runs past the end of the file */
	PART_WHOLE,                     /* a valid header and a body inside the file (not yet checked) */
};

/* Reads the chunk header at offset into *head.  any_session: accept any session id (the file's header is damaged). */
enum part part_at(const struct trace *t, uint64_t offset, bool any_session, struct chunk_header *head);

/* Offset of the first PART_WHOLE in [from, end), `from` a multiple of 8; `end` if there is none.  Fills *head. */
uint64_t part_find(const struct trace *t, uint64_t from, uint64_t end, bool any_session, struct chunk_header *head);

/* End of the part that begins at offset. */
uint64_t part_end(uint64_t offset, const struct chunk_header *head);

/* Whether the file ends with a valid footer, copied to *foot. */
bool footer_at_end(const struct trace *t, struct file_footer *foot);

/* Fills t->chunks, from the index or by walking through the file.  Returns 0, or -1: out of memory. */
int trace_list(struct trace *t, struct trace_error *err);

/* Returns 0, or -1: the chunks declare more rows than a file of this size may have (TRACE_UNPACK_RATIO). */
int trace_sized(const struct trace *t, struct trace_error *err);

/* Adds an entry to t->damage, its text from fmt.  Thread-safe. */
void trace_damaged(struct trace *t, uint64_t offset, uint64_t bytes, uint64_t rows, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Writes "chunk of 512 kernel rows of process 3" into text and returns text. */
const char *part_name(const struct chunk_header *head, char *text, size_t size);

/* Reconstructs the file header from the chunks of t, as far as possible. */
void header_rebuild(struct trace *t, struct file_header *h);

#endif
