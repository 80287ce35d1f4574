/*
 * Which rank of a job is late, told from how long each rank was in each collective.  Pure: docs/numbers.md has the rule.
 *
 * A collective ends on all ranks at about the same time.  So the rank that starts last has the shortest duration, that of the transfer
 * alone.  What the duration of another rank is longer, that rank waited.
 */
#ifndef ANALYZE_LATE_H
#define ANALYZE_LATE_H

#include <stddef.h>
#include <stdint.h>

#define LATE_ABSENT  (-1)       /* a duration: this rank takes no part */
#define LATE_NO_STEP INT64_MIN  /* instead of a step: the collective belongs to no counted step */

struct late_input {
	size_t ranks, collectives;
	const int64_t *durations;       /* [collective * ranks + rank] */
	const int64_t *steps;           /* of each collective: any number that names its step */
};

/* What each rank's collectives come to. */
struct late_rank {
	size_t collectives;             /* in which it takes part with at least one other */
	size_t judged;                  /* of them, those of the verdict: where steps are counted, those in a counted step */
	size_t last;                    /* of them, those in which its time alone is the shortest */
	int64_t wait;                   /* sum over these collectives of (duration of this rank - shortest duration) */
	int64_t step_wait;              /* per step: the median, with few steps the mean; without steps the sum */
};

enum late_answer {
	LATE_NAMED,             /* late is the rank */
	LATE_NOBODY,            /* the margin is not above the noise */
	LATE_ALONE,             /* fewer than two ranks take part in any collective */
	LATE_UNEQUAL,           /* ranks take part in different numbers of them: sums cannot be compared */
	LATE_FEW,               /* too few collectives and steps to tell noise */
};

enum late_noise { NOISE_STEPS, NOISE_COLLECTIVES };

struct late_verdict {
	enum late_answer answer;
	size_t late, against;           /* who waits least; the rank that margin and noise are about */
	size_t steps;                   /* counted steps; 0: times are those of the whole trace, not of a step */
	size_t collectives;             /* that were judged */
	int64_t wait;                   /* per step, of the rank that waits least */
	int64_t least, most;            /* the same of the other ranks */
	int64_t margin, noise;
	enum late_noise between;        /* what the noise was taken between */
};

#define LATE_STEPS       6u     /* least number of steps for the noise between steps; with fewer, it is taken between collectives */
#define LATE_COLLECTIVES 5u     /* least number of collectives for the noise between them */

/* ranks[] gets one for each.  0, or -1: out of memory. */
int late_judge(const struct late_input *in, struct late_rank *ranks, struct late_verdict *v);

#endif
