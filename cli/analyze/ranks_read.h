/* What the ranks of a job did in collectives, out of one trace or several. */
#ifndef ANALYZE_RANKS_READ_H
#define ANALYZE_RANKS_READ_H

#include "cli/analyze/collectives.h"
#include "cli/analyze/job.h"

struct ranks {
	struct job job;
	struct collectives *collectives;        /* of each rank */
	size_t *unknown;                /* of each rank: communication kernels whose operation nothing names, or that have no time */
};

/*
 * 0, or -1: out of memory; ranks_release() in any case.  ranks_begin() finds ranks only; ranks_collectives() reads what they did
 * together.
 */
int ranks_begin(struct ranks *r, struct model *m, const struct report_choice *choice);
int ranks_collectives(struct ranks *r);
void ranks_release(struct ranks *r);

/* A number that two ranks have, or -1. */
int64_t ranks_twice(const struct ranks *r);

#endif
