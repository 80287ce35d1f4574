/* The collectives of a job: which of them, on each rank, are one and the same.  Pure: docs/numbers.md has the rule. */
#ifndef ANALYZE_COLLECTIVES_H
#define ANALYZE_COLLECTIVES_H

#include "cli/model/collectives.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_SEQUENCE (-1)

/* What one rank did in one collective. */
struct collective {
	int64_t start, duration;
	int64_t sequence;               /* of its process group; NO_SEQUENCE: not recorded */
	int64_t step;                   /* any number that names its step; LATE_NO_STEP (late.h): it belongs to no counted step */
	const struct collective_op *op;
	uint32_t group;                 /* a number for each process group, the same on all ranks; 0: not recorded */
};

/* Of one rank. */
struct collectives {
	struct collective *list;        /* in the order of start */
	size_t n, cap;
};

enum match_answer {
	MATCHED,
	MATCH_NONE,             /* no collective of this kind */
	MATCH_COUNTS,           /* without sequence numbers: ranks have different numbers of an operation */
	MATCH_APART,            /* without sequence numbers: two that would be one did not run at the same time */
};

/* A table for late_judge(). */
struct matched {
	enum match_answer answer;
	bool by_sequence;               /* else by the order of occurrence */
	size_t n, ranks;
	int64_t *durations, *steps;
	size_t unmatched;               /* collectives of single ranks that no other rank has */
	/* why not */
	const struct collective_op *op;
	size_t rank[2], count[2];
	int64_t apart;
};

#define MATCH_TOLERANCE 1000000         /* ns that clocks of hosts may differ */

/* Those of one kind.  0, or -1: out of memory. */
int collectives_match(const struct collectives *of, size_t ranks, enum collective_kind kind, struct matched *out);
void matched_release(struct matched *m);

#endif
