/*
 * Headings and cells of a text table.  The unit is part of the column's name (`wall_ns`, `Total Time (ns)`, `Total (MB)`).  CSV
 * and JSON use this name and exact numbers; a text table shows the unit in each cell, with four significant digits.
 */
#ifndef CLI_UI_CELLS_H
#define CLI_UI_CELLS_H

#include <stdbool.h>
#include <stddef.h>

struct cell;
struct heading;

#define CELL_ROOM 64            /* bytes of a formatted number or a heading */

/* Writes the heading of a column: its name without the unit, "wall" for "wall_ns". */
void heading_text(char out[CELL_ROOM], const char *name);

/*
 * Writes a number with its unit: "5.612 ms", "12.35 kB", "1,234", "98.76"; a point in time (`start_ns`) in ms with three
 * decimals.  Returns the length.
 */
size_t cell_number(char out[CELL_ROOM], const struct cell *c, const struct heading *column);

/*
 * Shortens a name to width characters and writes it to out, which has size bytes.  False: even the shortest form, now in
 * out, is wider.  What is removed:
 *	C++			parameters and template arguments, the innermost first: "void f<g<...>, 4>(...)"
 *	name (path:line)	folders, then the end of the name: "train_one_epoch (train.py:30)", "train_one… (train.py:30)"
 *	sh -> env -> python3	programs between the first and the last: "sh -> … -> python3"
 */
bool name_fold(char *out, size_t size, const char *text, size_t width);

#endif
