/*
 * Walks over the records of a CUPTI buffer.  Only the loaded library knows the size of a record, so the library is asked where the next
 * one begins.  The walk stops if the answer lies outside the buffer or does not advance.
 */
#ifndef INJECT_CUPTI_CUPTI_WALK_H
#define INJECT_CUPTI_CUPTI_WALK_H

#include "inject/cupti/cupti.h"

struct cupti_walk {
	uint8_t *buffer, *end;
	uint8_t *next;          /* the next record, or NULL */
	uint8_t *rest;          /* end of the last record; NULL while there are more */
	int result;             /* last answer of cuptiActivityGetNextRecord(), or WALK_STRAYED */
};

/* The library's answer was outside the buffer or did not advance. */
#define WALK_STRAYED (-1)

/* End of the last record, beyond which the library could not read. */
uint8_t *cupti_walk_record_end(const struct cupti_walk *w, uint8_t *record);

/* True if at least one record could not be read.  Zeroes after the last record are not records. */
bool cupti_walk_lost(const struct cupti_walk *w);

/* Advances w->next; false: no more records, or w->result says why not. */
static inline bool cupti_walk_step(struct cupti_walk *w)
{
	uint8_t *at = w->next;

	w->result = tracer.fn.ActivityGetNextRecord(w->buffer, (size_t)(w->end - w->buffer), &w->next);
	if (w->result != RESULT_OK)
		return false;
	if (w->next < w->buffer || w->end - w->next < 8 || (at && w->next <= at))
		w->result = WALK_STRAYED;
	return w->result == RESULT_OK;
}

/* Starts a walk over the first `valid` bytes of a buffer. */
static inline void cupti_walk_begin(struct cupti_walk *w, uint8_t *buffer, size_t valid)
{
	*w = (struct cupti_walk){ .buffer = buffer, .end = buffer + valid };
	if (cupti_walk_step(w))
		return;
	w->next = NULL;
	w->rest = buffer;
}

/* Returns the next record and its size in bytes; false: no more. */
static inline bool cupti_walk(struct cupti_walk *w, uint8_t **record, size_t *size)
{
	uint8_t *at = w->next, *behind;

	if (!at)
		return false;
	if (cupti_walk_step(w)) {
		behind = w->next;
	} else {
		w->next = NULL;
		behind = w->rest = cupti_walk_record_end(w, at);
	}
	*record = at;
	*size = (size_t)(behind - at);
	return true;
}

#endif
