/* `gprof-trace report list`: the reports by group, with the question that each answers. */
#ifndef CLI_REPORT_REPORT_LIST_H
#define CLI_REPORT_REPORT_LIST_H

#include <stdbool.h>

struct model;
struct tables;

/*
 * Prints the list.  m: a trace; the list then says which rows it lacks for each report; NULL: none.  all: with the
 * compatibility reports (hta_*).  0, or -1: out of memory.
 */
int report_list(struct tables *tables, struct model *m, bool all);

#endif
