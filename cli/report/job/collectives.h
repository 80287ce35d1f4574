/* Matches the kernels of one collective over the ranks of a job.  Pure.  The rule: "Matched collectives" in docs/reference/numbers.md. */
#ifndef CLI_REPORT_JOB_COLLECTIVES_H
#define CLI_REPORT_JOB_COLLECTIVES_H

#include "cli/model/gpu/collectives.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_SEQUENCE (-1)

/* The kernel of one rank in one collective. */
struct collective {
	int64_t start, duration;
	int64_t sequence;               /* sequence number in its process group; NO_SEQUENCE: not recorded */
	int64_t step;                   /* any number that identifies its step; LATE_NO_STEP (late.h): it belongs to no counted step */
	const struct collective_op *op;
	uint32_t group;                 /* number of its process group, the same on all ranks; 0: not recorded */
};

/* All collectives of one rank. */
struct collectives {
	struct collective *list;        /* by start */
	size_t n, cap;
};

enum match_answer {
	MATCHED,
	MATCH_NONE,             /* no collective of this kind */
	MATCH_COUNTS,           /* no sequence numbers, and ranks have different numbers of collectives of an operation */
	MATCH_APART,            /* no sequence numbers, and the n-th collectives of two ranks did not run at the same time */
};

/* Input of late_judge(). */
struct matched {
	enum match_answer answer;
	bool by_sequence;               /* matched by sequence number; else by order of occurrence */
	size_t n, ranks;                /* n: number of matched collectives */
	int64_t *durations, *steps;     /* durations[collective * ranks + rank] in ns, or LATE_ABSENT; steps[collective] */
	size_t unmatched;               /* number of collectives that only one rank has */
	/* Of MATCH_COUNTS: op, both ranks and their counts.  Of MATCH_APART: rank[0] ended op `apart` ns before rank[1] started it. */
	const struct collective_op *op;
	size_t rank[2], count[2];
	int64_t apart;
};

#define MATCH_TOLERANCE 1000000         /* ns by which the clocks of hosts may differ */

/* Matches the collectives of one kind.  of[ranks]: by rank.  Returns 0, or -1 when out of memory; matched_release() in any case. */
int collectives_match(const struct collectives *of, size_t ranks, enum collective_kind kind, struct matched *out);
void matched_release(struct matched *m);

#endif
