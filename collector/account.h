/* Health, drop and cost rows: what is missing from a trace, and what we cost.  Written when a count has changed. */
#ifndef COLLECTOR_ACCOUNT_H
#define COLLECTOR_ACCOUNT_H

#include "collector/process.h"

/* Rows of one process: what its arena counts and what we count against it. */
void account_process(struct process *p, struct output *out);

/* Rows of the session. */
void account_session(struct troubles *t, struct staging *s);

#endif
