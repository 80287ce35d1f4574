/* Reads SQLite files with libsqlite3.so.0, which is loaded at run time. */
#ifndef CLI_IMPORT_BYTES_SQLITE_H
#define CLI_IMPORT_BYTES_SQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/error.h"

struct sqlite;

/* NULL: *err says why and names the file; also if libsqlite3.so.0 is missing.  path must stay valid; sqlite_close() accepts NULL. */
struct sqlite *sqlite_open(const char *path, struct trace_error *err);
void sqlite_close(struct sqlite *s);

/* Whether the file has an ordinary table with this name, and in it a column.  False on errors. */
bool sqlite_has(struct sqlite *s, const char *table);
bool sqlite_has_column(struct sqlite *s, const char *table, const char *column);
/* Calls fn for each table for which wanted() is true, with its number of rows; 0 rows if they cannot be counted. */
void sqlite_tables(struct sqlite *s, bool (*wanted)(const char *table), void (*fn)(const char *table, uint64_t rows, void *arg),
		   void *arg);

/* A row of a query, valid during the call of fn.  A column that the table does not have reads as NULL. */
struct sqlite_row {
	struct sqlite *s;
	void *statement;
	const bool *there;
};

/* The value of a column, by its index in `columns` of sqlite_each(); 0 for NULL. */
int64_t row_whole(const struct sqlite_row *r, int column);
bool row_null(const struct sqlite_row *r, int column);
/* *n: bytes; "" for NULL.  Valid until the next row. */
const char *row_text(const struct sqlite_row *r, int column, size_t *n);

/*
 * Calls fn for each row of a table, in the order of rowid.  columns: "start, end, ..."; where: a condition in SQL, or NULL.
 * A missing table has no rows.  fn returns 0, or -1 for out of memory.  Returns 0, or -1 with *err set.
 */
int sqlite_each(struct sqlite *s, const char *table, const char *columns, const char *where,
		int (*fn)(const struct sqlite_row *r, void *arg), void *arg, struct trace_error *err);

/* As sqlite_each(), in the order of the columns `order`. */
int sqlite_each_by(struct sqlite *s, const char *table, const char *columns, const char *where, const char *order,
		   int (*fn)(const struct sqlite_row *r, void *arg), void *arg, struct trace_error *err);

/* As row_whole(), a floating-point value. */
double row_real(const struct sqlite_row *r, int column);

#endif
