/* The launches of a rank: a call and the first GPU row with its correlation id ("Reports by rank" in docs/reference/numbers.md). */
#ifndef CLI_REPORT_JOB_JOB_LAUNCH_H
#define CLI_REPORT_JOB_JOB_LAUNCH_H

#include "cli/report/job/job.h"

struct launch {
	int64_t call, call_ns;          /* start and duration of the call */
	int64_t gpu_ns;                 /* sum of the durations of its GPU rows */
	size_t call_row;                /* row of ROW_api */
	size_t rows;                    /* number of its GPU rows that have a time */
	struct gpu_row first;           /* the earliest of them */
};

struct launches {
	struct launch *list;            /* in the trace's order of calls */
	size_t n;
	size_t without;                 /* number of GPU rows with a time whose call was not recorded */
};

/* All launches of the rank.  Returns 0, or -1 when out of memory.  The caller frees l->list in any case. */
int job_launches(const struct job_rank *r, struct launches *l);

/* ns from the end of the call to the start of the first GPU row; 0 if the row starts earlier. */
int64_t launch_delay(const struct launch *l);

/* Notes that GPU rows are in no launch, or that the rank has none. */
void launches_note(struct table *t, const struct job_rank *r, const struct launches *l);

#endif
