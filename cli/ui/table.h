/*
 * Prints results: rows of cells as a text table, CSV or JSON.  Every report uses this.
 * Text tables have human units and fit the terminal; CSV and JSON have all columns and exact numbers.
 * An unknown value is `-` in text, empty in CSV, null in JSON; a note below the table says why.
 */
#ifndef CLI_UI_TABLE_H
#define CLI_UI_TABLE_H

#include "cli/ui/json_out.h"

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_JSON };

/* Output and options, for all tables of a command. */
struct tables {
	struct out *out;
	enum table_format format;
	const char
		*sort; /* a column's name, with or without its unit, and optional :asc or :desc; NULL: unsorted */
	uint64_t limit;                 /* rows to print of each table; 0: all */
	unsigned width;                 /* of a line, in characters; 0: unlimited, but a last text column is cut at 100 */
	bool full_names;                /* do not fold or cut names: lines may be longer than width */
	bool quiet;                     /* do not print notes on stderr */
	bool brief;                     /* no notes on names that are cut and columns that are left out: the command has no options for them */
	bool several;                   /* several tables: JSON is an object of arrays */
	size_t printed;                 /* number of tables printed so far */
};

#define COLUMN_TEXT 1u          /* left aligned */
#define COLUMN_ID   2u          /* a number that identifies something: printed without commas */
#define COLUMN_BELOW 4u /* in a text table, a separate line below the row; these columns come last */

#define COLUMN_LINES 8u /* with COLUMN_BELOW: each " <- " in the text begins a new line */

#define COLUMN_SPARSE 16u /* left out of a text table if it is unknown in all rows; never the last column */

#define COLUMN_RARE 32u /* left out first if a text table is too wide */
#define COLUMN_KEY  64u /* left out last */

#define COLUMN_PATH 256u /* a path, optionally with a line number: if it is too long, its front is cut, not its file name */

#define COLUMN_PLAIN 512u /* text that is no name, such as a line of source: cut, not folded; printed without its indentation */
#define COLUMN_WHO  1024u /* the process of a row: never left out if rows are of several, COLUMN_RARE if all are of one */

#define COLUMN_MOMENT 128u /* a point in time, if the name does not show it (start_ns, end_ns and the like do) */

struct heading {
	const char *name;
	unsigned flags;
};

enum cell_kind { CELL_UNKNOWN, CELL_NUMBER, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	unsigned decimals;              /* the value is number / 10^decimals */
	int64_t number;
	const char *text;               /* must stay valid until table_end() */
};

#define UNKNOWN         ((struct cell){ .kind = CELL_UNKNOWN })
#define NUMBER(n)       ((struct cell){ .kind = CELL_NUMBER, .number = (int64_t)(n) })
#define FIXED(n, d)     ((struct cell){ .kind = CELL_NUMBER, .number = (n), .decimals = (d) })
#define TEXT(t)         ((struct cell){ .kind = CELL_TEXT, .text = (t) })

struct table {
	struct tables *tables;
	const char *name, *title;
	const struct heading *columns;
	size_t n_columns, n_rows;       /* n_rows: rows passed to table_row() so far */
	size_t n_shown;                 /* columns before the first of COLUMN_BELOW */
	/* Private to table.c and table_text.c. */
	struct cell *cells;             /* rows kept until the end, or until there are ROWS_FOR_WIDTHS */
	size_t kept, cap;
	unsigned widths[32];            /* of columns in a text table; 0: not shown */
	uint32_t hidden;                /* bit set of the columns that had no room */
	uint32_t empty, same;           /* bit sets of the columns that are unknown in all rows; that are equal in all rows */
	bool streaming, failed;
	char *value;                    /* see table_value() */
	size_t printed_rows;
	int sort;                       /* column to sort by, or -1 */
	bool descending;
	struct kept { struct kept *next; } *texts;
	char **notes;
	size_t n_notes, cap_notes;
	const char *definitions;
	bool folded;                    /* a name was folded or cut */
};

/*
 * Begins a table.  name: of the report, "cuda_gpu_kern_sum"; title: the line above the table.  All must stay valid until
 * table_end().  0, or -1 after an error message: there is no column tables->sort.
 */
int table_begin(struct table *t, struct tables *tables, const char *name, const char *title,
		const struct heading *columns, size_t n_columns);

/* Adds a row of n_columns cells, which are copied. */
void table_row(struct table *t, const struct cell *cells);

/* Formats a text that stays valid until table_end(); "" if out of memory. */
const char *table_keep(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Sets the JSON value of a report that is not a table in JSON, in place of its rows.  Call it before the first row.
 * table_end() frees json; NULL counts as out of memory.
 */
void table_value(struct table *t, char *json);

/* Adds a note below the table; for CSV and JSON, whose readers expect rows only, on stderr. */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Sets the definitions of columns: lines "busy, idle: ..." with names of headings, valid until table_end().  They are printed
 * below a text table with rows, except lines about hidden columns only.
 */
void table_define(struct table *t, const char *lines);

/* Prints the remaining rows and the notes, and frees the table.  0, or -1 after an error message (out of memory). */
int table_end(struct table *t);

/* Frees the table without printing. */
void table_drop(struct table *t);

/* Print what is before and after all tables: the braces of JSON. */
void tables_begin(struct tables *t);
void tables_end(struct tables *t);

#endif
