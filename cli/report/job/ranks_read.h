/* The collectives of each rank of a job, read from one trace or several. */
#ifndef CLI_REPORT_JOB_RANKS_READ_H
#define CLI_REPORT_JOB_RANKS_READ_H

#include "cli/report/job/collectives.h"
#include "cli/report/job/job.h"

struct ranks {
	struct job job;
	struct collectives *collectives;        /* by rank */
	size_t *unknown;                /* by rank: number of communication kernels without a known operation or without a time */
};

/*
 * ranks_begin() finds the ranks; ranks_collectives() then reads their collectives.  Both return 0, or -1 when out of memory;
 * ranks_release() in any case.
 */
int ranks_begin(struct ranks *r, struct model *m, const struct report_choice *choice);
int ranks_collectives(struct ranks *r);
void ranks_release(struct ranks *r);

/* A rank number that two ranks have, or -1. */
int64_t ranks_twice(const struct ranks *r);

#endif
