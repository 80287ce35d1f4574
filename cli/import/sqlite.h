/* SQLite files, read by libsqlite3.so.0 where it is installed.  Knows tables, not what is in them. */
#ifndef IMPORT_SQLITE_H
#define IMPORT_SQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/error.h"

struct sqlite;

/* NULL: *err says why, with the file's name. */
struct sqlite *sqlite_open(const char *path, struct trace_error *err);
void sqlite_close(struct sqlite *s);

bool sqlite_has(struct sqlite *s, const char *table);
bool sqlite_has_column(struct sqlite *s, const char *table, const char *column);
/* fn of each table that is wanted, with the number of its rows. */
void sqlite_tables(struct sqlite *s, bool (*wanted)(const char *table), void (*fn)(const char *table, uint64_t rows, void *arg),
		   void *arg);

/* A row of a query: columns that the table has not are 0 or NULL. */
struct sqlite_row {
	struct sqlite *s;
	void *statement;
	const bool *there;
};

int64_t row_whole(const struct sqlite_row *r, int column);
bool row_null(const struct sqlite_row *r, int column);
/* "" where there is none; valid until the next row. */
const char *row_text(const struct sqlite_row *r, int column, size_t *n);

/*
 * Calls fn for each row of a table that fits: columns is "start, end, ...", where a condition or NULL.  A table that is
 * not there has no rows.  0, or -1: fn said so, or *err says what SQLite did.
 */
int sqlite_each(struct sqlite *s, const char *table, const char *columns, const char *where,
		int (*fn)(const struct sqlite_row *r, void *arg), void *arg, struct trace_error *err);

/* The same in the order of these columns. */
int sqlite_each_by(struct sqlite *s, const char *table, const char *columns, const char *where, const char *order,
		   int (*fn)(const struct sqlite_row *r, void *arg), void *arg, struct trace_error *err);

double row_real(const struct sqlite_row *r, int column);

#endif
