/* What reader.c, scan.c, rows.c and recover.c share; for nobody else. */
#ifndef TRACE_READER_PARTS_H
#define TRACE_READER_PARTS_H

#include "trace/reader.h"

/* What stands at an offset of the file. */
enum part {
	PART_NONE,                      /* no chunk header, or a damaged one */
	PART_CUT,                       /* a whole header whose body runs past the end of the file */
	PART_WHOLE,                     /* header, and a body inside the file (not yet checked) */
};

/* any_session: take what session it names (the file's header is damaged). */
enum part part_at(const struct trace *t, uint64_t offset, bool any_session, struct chunk_header *head);

/* Offset of the first whole chunk at or behind `from` (a multiple of 8) and before `end`; `end` when there is none. */
uint64_t part_find(const struct trace *t, uint64_t from, uint64_t end, bool any_session, struct chunk_header *head);

/* End of the part that begins at offset. */
uint64_t part_end(uint64_t offset, const struct chunk_header *head);

/* The file ends with a footer that is whole. */
bool footer_at_end(const struct trace *t, struct file_footer *foot);

/* Finds all chunks, by the index or by walking through the file.  0, or -1 when out of memory. */
int trace_list(struct trace *t, struct trace_error *err);

/* Adds to t->damage; thread-safe. */
void trace_damaged(struct trace *t, uint64_t offset, uint64_t bytes, uint64_t rows, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* "chunk of 512 kernel rows of process 3" into text. */
const char *part_name(const struct chunk_header *head, char *text, size_t size);

/* The header that a file with these chunks has had, as far as they tell. */
void header_rebuild(struct trace *t, struct file_header *h);

#endif
