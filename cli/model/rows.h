/*
 * The rows of one process and kind one after the other, as the structs that they are, for who wants each of them once
 * and in order.  Nothing is kept: of a file one chunk at a time is decoded, and of rows that are in memory none is
 * copied.
 */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "cli/model/model.h"

struct rows {
	const char *next, *end;         /* of this chunk */
	size_t size;                    /* of a row */
	/* rows.c's own */
	struct model *m;
	unsigned kind;
	uint32_t process;
	size_t part;
	void *scratch;
	const uint32_t *ids;            /* of the file's strings below n_ids the model's */
	uint32_t n_ids;
	bool failed;
};

/* process: position in model_processes().  rows_end() in any case; it is 0, or -1: out of memory. */
void rows_begin(struct rows *r, struct model *m, unsigned kind, uint32_t process);
int rows_end(struct rows *r);

/* The next chunk's first row; NULL: there is none. */
const void *rows_more(struct rows *r);
/* Of an id beyond ids. */
uint32_t rows_far_string(const struct rows *r, uint32_t id);

/* The next row, with times as a column has them and string ids of the file; NULL: there is none, or no memory. */
static inline const void *rows_next(struct rows *r)
{
	const void *row = r->next;

	if (r->next == r->end)
		return rows_more(r);
	r->next += r->size;
	return row;
}

/* The model's id of a string that a row names. */
static inline uint32_t rows_string(const struct rows *r, uint32_t id)
{
	return id < r->n_ids ? r->ids[id] : rows_far_string(r, id);
}

#endif
