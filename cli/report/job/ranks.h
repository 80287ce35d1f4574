/* The late rank of a job: the rank that other ranks wait for. */
#ifndef CLI_REPORT_JOB_RANKS_H
#define CLI_REPORT_JOB_RANKS_H

#include "cli/report/job/late.h"
#include "cli/report/job/ranks_read.h"

#include <stdbool.h>

struct ranks_judged {
	struct ranks ranks;
	struct matched all, rooted;     /* COLLECTIVE_ALL: every rank waits for every other rank; COLLECTIVE_ROOTED */
	struct late_rank *waits, *rooted_waits; /* by rank */
	struct late_verdict verdict, rooted_verdict;
};

/* Returns 0, or -1 when out of memory; ranks_judged_release() in any case. */
int ranks_judge(struct ranks_judged *j, struct model *m, const struct report_choice *choice);
void ranks_judged_release(struct ranks_judged *j);

#define RANKS_SENTENCE 400

/* The verdict on COLLECTIVE_ALL in words.  Returns true if it names a late rank; else the text says why none is named. */
bool ranks_sentence(const struct ranks_judged *j, char text[RANKS_SENTENCE]);

/* The sentence for the page; "" when no rank is named, or finding it takes too long.  Returns 0, or -1 when out of memory. */
int ranks_line(struct model *m, char text[RANKS_SENTENCE]);

#endif
