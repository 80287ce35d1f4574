/*
 * Finds the late rank of a job from the duration of each collective on each rank.  Pure.  The rule: "Ranks" in docs/reference/numbers.md.
 *
 * A collective ends on all ranks at about the same time.  So the rank that starts last has the shortest duration, that of the transfer
 * alone.  What the duration of another rank is longer, that rank waited.
 */
#ifndef CLI_REPORT_JOB_LATE_H
#define CLI_REPORT_JOB_LATE_H

#include <stddef.h>
#include <stdint.h>

#define LATE_ABSENT  (-1)       /* instead of a duration: the rank takes no part in the collective */
#define LATE_NO_STEP INT64_MIN  /* instead of a step: the collective belongs to no counted step */

struct late_input {
	size_t ranks, collectives;
	const int64_t *durations;       /* ns, [collective * ranks + rank] */
	const int64_t *steps;           /* by collective: any number that identifies its step */
};

/* The collectives of one rank; times in ns. */
struct late_rank {
	size_t collectives;             /* number in which the rank and at least one other take part */
	size_t judged;                  /* number of these that count in the verdict: with steps, only those in a counted step */
	size_t last;                    /* number of these in which only this rank has the shortest duration */
	int64_t wait;                   /* sum over these collectives of (duration of this rank - shortest duration) */
	int64_t step_wait;              /* per step: the median, with few steps the mean; without steps the sum */
};

enum late_answer {
	LATE_NAMED,             /* late_verdict.late is the late rank */
	LATE_NOBODY,            /* no rank is late: a margin is not above its noise */
	LATE_ALONE,             /* fewer than two ranks take part in any collective */
	LATE_UNEQUAL,           /* ranks take part in different numbers of collectives: sums cannot be compared */
	LATE_FEW,               /* too few collectives and steps to estimate the noise */
};

enum late_noise { NOISE_STEPS, NOISE_COLLECTIVES };

struct late_verdict {
	enum late_answer answer;
	size_t late, against;           /* the rank that waits least; the other rank of margin and noise */
	size_t steps;                   /* number of counted steps; 0: times are of the whole trace, not per step */
	size_t collectives;             /* number of judged collectives */
	int64_t wait;                   /* ns per step that rank `late` waits */
	int64_t least, most;            /* ns per step: the shortest and the longest wait of the other ranks */
	int64_t margin, noise;          /* ns: wait of `against` - wait of `late`, and the noise of that difference */
	enum late_noise between;        /* units that the noise was estimated from */
};

#define LATE_STEPS       6u     /* least number of steps for the noise between steps; with fewer, it is taken between collectives */
#define LATE_COLLECTIVES 5u     /* least number of collectives for the noise between them */

/* Fills ranks[in->ranks] and *v.  Returns 0, or -1 when out of memory. */
int late_judge(const struct late_input *in, struct late_rank *ranks, struct late_verdict *v);

#endif
