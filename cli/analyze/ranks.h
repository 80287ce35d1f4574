/* Which rank of a job the others wait for. */
#ifndef ANALYZE_RANKS_H
#define ANALYZE_RANKS_H

#include "cli/analyze/late.h"
#include "cli/analyze/ranks_read.h"

#include <stdbool.h>

/* What the ranks of a job did together, judged. */
struct ranks_judged {
	struct ranks ranks;
	struct matched all, rooted;     /* collectives in which nobody is done before everybody came; those with a root */
	struct late_rank *waits, *rooted_waits; /* by rank */
	struct late_verdict verdict, rooted_verdict;
};

/* 0, or -1: out of memory; ranks_judged_release() in any case. */
int ranks_judge(struct ranks_judged *j, struct model *m, const struct report_choice *choice);
void ranks_judged_release(struct ranks_judged *j);

#define RANKS_SENTENCE 400

/* The verdict in words.  True: it names a rank; else the words say why it does not. */
bool ranks_sentence(const struct ranks_judged *j, char text[RANKS_SENTENCE]);

/* For the page: the same; "" where no rank is named, or where it would take long to tell.  0, or -1: out of memory. */
int ranks_line(struct model *m, char text[RANKS_SENTENCE]);

#endif
