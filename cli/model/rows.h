/*
 * Iterates over the rows of one process and kind, as structs and in order, each once.  Keeps nothing: decodes one chunk of a file at a
 * time, and does not copy rows of a trace in memory.
 */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "cli/model/model.h"

struct rows {
	const char *next, *end;         /* rows of this chunk not yet returned */
	size_t size;                    /* of a row */
	/* private to rows.c */
	struct model *m;
	unsigned kind;
	uint32_t process;
	size_t part;
	void *scratch;
	const uint32_t *ids;            /* maps string ids of the file below n_ids to the model's */
	size_t n_ids;
	bool failed;
};

/* Begins an iteration; process: position in model_processes().  End it with rows_end(), which returns 0, or -1: out of memory. */
void rows_begin(struct rows *r, struct model *m, unsigned kind, uint32_t process);
int rows_end(struct rows *r);

/* For rows_next(): the first row of the next chunk; NULL: none. */
const void *rows_more(struct rows *r);
/* For rows_string(): the model's id of a string id from n_ids on. */
uint32_t rows_far_string(const struct rows *r, uint32_t id);

/* The next row, with times in trace time and string ids of the file; NULL: no more, or out of memory. */
static inline const void *rows_next(struct rows *r)
{
	const void *row = r->next;

	if (r->next == r->end)
		return rows_more(r);
	r->next += r->size;
	return row;
}

/* The model's string id of a string id in a row. */
static inline uint32_t rows_string(const struct rows *r, uint32_t id)
{
	return id < r->n_ids ? r->ids[id] : rows_far_string(r, id);
}

#endif
