/* The launches of a rank (docs/numbers.md): a call and the first GPU row with its correlation id. */
#ifndef ANALYZE_JOB_LAUNCH_H
#define ANALYZE_JOB_LAUNCH_H

#include "cli/analyze/job.h"

struct launch {
	int64_t call, call_ns;          /* start and duration of the call */
	int64_t gpu_ns;                 /* of all its GPU rows */
	size_t call_row;                /* of ROW_api */
	size_t rows;                    /* GPU rows */
	struct gpu_row first;
};

struct launches {
	struct launch *list;            /* in the order of calls in the trace */
	size_t n;
	size_t without;                 /* GPU rows with a time whose call was not recorded */
};

/* free() the list whatever came.  0, or -1: out of memory. */
int job_launches(const struct job_rank *r, struct launches *l);

/* From the end of the call to the start of the first row, at least 0. */
int64_t launch_delay(const struct launch *l);

/* Below a table: that some GPU rows are in no launch. */
void launches_note(struct table *t, const struct job_rank *r, const struct launches *l);

#endif
