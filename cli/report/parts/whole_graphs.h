/* CUDA graphs recorded as one row per launch, without the kernels in them. */
#ifndef CLI_REPORT_PARTS_WHOLE_GRAPHS_H
#define CLI_REPORT_PARTS_WHOLE_GRAPHS_H

#include <stddef.h>

struct model;
struct table;

/* The note of reports about kernels: number of such launches and their share of GPU time; "": none.  Returns 0, or -1: out of memory. */
int whole_graphs_text(struct model *m, char *text, size_t size);

/* Adds that text as a note below a table, if there is one.  Returns 0, or -1 when out of memory. */
int whole_graphs_note(struct model *m, struct table *t);

#endif
