/* Launches of CUDA graphs that are one row each, whose kernels nobody has seen. */
#ifndef ANALYZE_WHOLE_GRAPHS_H
#define ANALYZE_WHOLE_GRAPHS_H

#include <stddef.h>

struct model;
struct table;

/* What every report about kernels says then; "" when there are none.  0, or -1: out of memory. */
int whole_graphs_text(struct model *m, char *text, size_t size);

/* The same as a note below a table. */
int whole_graphs_note(struct model *m, struct table *t);

#endif
