/* Collects rows of one process for chunks: one growing array for each kind, written at 1 MiB or on request. */
#ifndef COLLECTOR_STAGE_H
#define COLLECTOR_STAGE_H

#include <stdbool.h>

#include "collector/output.h"
#include "trace/buf.h"
#include "trace/records.h"

struct stage {
	uint8_t *rows;                  /* n structs */
	size_t n, cap;                  /* in rows */
	struct buf tails;               /* of the rows, concatenated */
	bool idle;                      /* nothing came before the last write */
	bool lost_changed;
	uint64_t lost;                  /* rows that were lost: no disk space, or no memory */
	int64_t lost_first, lost_last;  /* on the process's clock */
};

struct staging {
	struct output *out;
	uint32_t process;
	unsigned clock;                 /* of TIME fields: enum wire_clock */
	struct stage *stages;           /* one for each element of records[] */
};

/* Returns 0, or -1 without memory. */
int staging_init(struct staging *s, struct output *out, uint32_t process, unsigned clock);
void staging_release(struct staging *s);

/*
 * Adds a row, and n_tail bytes of its tail.  Returns the staged row, valid until the next call; NULL: no memory, the row is counted as
 * lost.
 */
void *staging_put(struct staging *s, const struct record *r, const void *row, const void *tail, size_t n_tail);

/*
 * Returns room for *n rows without tails, at least one; NULL: no memory, a row is counted as lost.  staging_add() tells how many were put
 * there.
 */
void *staging_room(struct staging *s, const struct record *r, size_t *n);
void staging_add(struct staging *s, const struct record *r, size_t n);

/* Writes all staged rows as chunks, and lost ones as drop rows. */
void staging_write(struct staging *s);

/* Adds an attribute row "KEY=TEXT" about process `of`. */
void staging_attribute(struct staging *s, uint32_t of, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
