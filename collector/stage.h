/* Rows of one process on their way into chunks: one growing array a kind, written at 1 MiB or when told. */
#ifndef COLLECTOR_STAGE_H
#define COLLECTOR_STAGE_H

#include <stdbool.h>

#include "collector/output.h"
#include "trace/buf.h"
#include "trace/records.h"

struct stage {
	uint8_t *rows;                  /* n structs */
	size_t n, cap;                  /* in rows */
	struct buf tails;               /* one after the other */
	bool idle;                      /* nothing came since the write before */
	bool lost_changed;
	uint64_t lost;                  /* rows that could not be kept: no room, no memory */
	int64_t lost_first, lost_last;  /* on the process's clock */
};

struct staging {
	struct output *out;
	uint32_t process;
	unsigned clock;                 /* of TIME fields: enum wire_clock */
	struct stage *stages;           /* one a record of records[], in its order */
};

/* 0, or -1 when out of memory. */
int staging_init(struct staging *s, struct output *out, uint32_t process, unsigned clock);
void staging_release(struct staging *s);

/*
 * Adds a row; n_tail bytes at tail are copied behind those of the rows before.  Returns the row's place, good until the
 * next call, or NULL: there was no memory, the row is counted as lost.
 */
void *staging_put(struct staging *s, const struct record *r, const void *row, const void *tail, size_t n_tail);

/*
 * Room for rows without tails: *n of them, at least one.  NULL: there was no memory.  staging_add() says how many were
 * put there.
 */
void *staging_room(struct staging *s, const struct record *r, size_t *n);
void staging_add(struct staging *s, const struct record *r, size_t n);

/* Writes everything staged as chunks, and what could not be kept as drop rows. */
void staging_write(struct staging *s);

/* A row of its own kind with a formatted tail: attributes of process `of`. */
void staging_attribute(struct staging *s, uint32_t of, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
