/* Health, drop and cost rows: what a trace lacks, and what profiling cost.  Written when a count has changed. */
#ifndef COLLECTOR_ACCOUNT_H
#define COLLECTOR_ACCOUNT_H

#include "collector/process.h"

/* Writes the rows of one process: the counts in its arena, and the collector's own counts for it. */
void account_process(struct tree_process *p, struct output *out);

/* Writes the session's health rows into s. */
void account_session(struct health_counts *t, struct staging *s);

#endif
