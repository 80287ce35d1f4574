/*
 * The only printer of results: rows of cells as an aligned table, CSV or JSON.
 * A cell whose value the trace cannot know is `-`, empty, or null; a note below the table says why.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "cli/json_out.h"

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_JSON };

/* How tables are wanted, and where.  One for all tables of a command. */
struct tables {
	struct out *out;
	enum table_format format;
	const char
		*sort; /* a column's name, with or without its unit, perhaps with :asc or :desc; NULL: as they come */
	uint64_t limit;                 /* rows printed of a table; 0: all */
	unsigned width;                 /* of the terminal; 0: a last text column is cut at 100 characters */
	bool quiet;                     /* no notes on stderr */
	bool several;                   /* JSON of several tables is an object of arrays */
	size_t printed;                 /* tables so far */
};

#define COLUMN_TEXT 1u          /* left aligned */
#define COLUMN_ID   2u          /* a number that names something: no commas between its thousands */
#define COLUMN_BELOW 4u /* text for people: in a table a line of its own below the row; these columns come last */

#define COLUMN_LINES 8u /* with COLUMN_BELOW: " <- " in the text begins a new line in a table */

#define COLUMN_SPARSE 16u /* left out of a table for people where no row knows it; never the last column */

struct heading {
	const char *name;
	unsigned flags;
};

enum cell_kind { CELL_UNKNOWN, CELL_NUMBER, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	unsigned decimals;              /* the number is number / 10^decimals */
	int64_t number;
	const char *text;               /* borrowed until table_end() */
};

#define UNKNOWN         ((struct cell){ .kind = CELL_UNKNOWN })
#define NUMBER(n)       ((struct cell){ .kind = CELL_NUMBER, .number = (int64_t)(n) })
#define FIXED(n, d)     ((struct cell){ .kind = CELL_NUMBER, .number = (n), .decimals = (d) })
#define TEXT(t)         ((struct cell){ .kind = CELL_TEXT, .text = (t) })

struct table {
	struct tables *tables;
	const char *name, *title;
	const struct heading *columns;
	size_t n_columns, n_rows;       /* n_rows: given so far */
	size_t n_shown;                 /* columns before the first of COLUMN_BELOW */
	/* table.c's own */
	struct cell *cells;             /* rows kept until the end, or until there are enough to know the widths */
	size_t kept, cap;
	unsigned widths[32];
	bool streaming, failed;
	char *value;                    /* table_value() */
	size_t printed_rows;
	int sort;                       /* column, or -1 */
	bool descending;
	struct kept { struct kept *next; } *texts;
	char **notes;
	size_t n_notes;
};

/* name: "cuda_gpu_kern_sum"; title: what it is called above the table.  0, or -1: there is no such column to sort by
 * (said). */
int table_begin(struct table *t, struct tables *tables, const char *name, const char *title,
		const struct heading *columns, size_t n_columns);

/* One row of n_columns cells. */
void table_row(struct table *t, const struct cell *cells);

/* A copy of a text that lives until table_end(). */
const char *table_keep(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * What stands in JSON instead of the rows, of a report that is no table there.  Before the first row; json is freed.
 * NULL: out of memory.
 */
void table_value(struct table *t, char *json);

/* A line below the table (on stderr for CSV and JSON, whose readers expect rows only). */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints what is left and frees all.  0, or -1: out of memory, said. */
int table_end(struct table *t);

/* What stands around all tables: nothing, or JSON's braces. */
void tables_begin(struct tables *t);
void tables_end(struct tables *t);

#endif
