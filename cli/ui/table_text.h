/* Text tables: human units, as wide as the terminal.  Private to table.c, except text_paragraph(). */
#ifndef CLI_UI_TABLE_TEXT_H
#define CLI_UI_TABLE_TEXT_H

#include "cli/ui/table.h"

/* The first rows of a table, which decide the column widths.  Further rows are printed at once, with these widths. */
#define ROWS_FOR_WIDTHS 10000u

/* Chooses columns and widths by the rows kept so far, and prints title and headings. */
void table_text_head(struct table *t);

/* Prints a row, and the lines of COLUMN_BELOW below it. */
void table_text_row(struct table *t, const struct cell *cells);

/*
 * Writes a text in lines of at most width characters (0: unlimited).  at: characters already in the first line; indent:
 * blanks before the next lines.
 */
void text_paragraph(struct out *o, const char *text, size_t at, size_t indent, size_t width);

/* Prints a note, which it changes: names of columns become headings.  first: leaves an empty line below the table. */
void table_text_note(struct table *t, char *note, bool first);

/* Whether a definition, a line of n bytes "busy, idle: ...", is to be printed: one of its columns is shown, or it names none. */
bool table_text_defines(const struct table *t, const char *line, size_t n);

/* The headings of the columns that had no room, as a text that the caller frees; NULL: none. */
char *table_text_hidden(const struct table *t);

#endif
