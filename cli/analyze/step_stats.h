/* How steps of one kind compare: mean and percentiles, and which took longer, and why. */
#ifndef ANALYZE_STEP_STATS_H
#define ANALYZE_STEP_STATS_H

#include <stddef.h>
#include <stdint.h>

enum step_part { PART_WALL, PART_BUSY, PART_COMPUTE, PART_COMM, PART_EXPOSED, PART_COPIES, PART_IDLE, PART_CALLS, STEP_PARTS };

/* "compute", as a cause */
extern const char *const step_part_words[STEP_PARTS];

/* One step; a part that is not known is -1. */
struct step_sample {
	int64_t part[STEP_PARTS];
	uint32_t step;                  /* the caller's */
};

struct step_summary {
	size_t n;                       /* samples in which it is known; 0: the rest is nothing */
	int64_t mean, p50, p95, max;
};

/* The value that at least percent of 100 of n sorted ones do not exceed. */
int64_t percentile(const int64_t *sorted, size_t n, unsigned percent);
/* The same of values in any order, which it sorts. */
int64_t percentile_of(int64_t *values, size_t n, unsigned percent);

/* Of one part; 0, or -1: out of memory. */
int step_summary_of(const struct step_sample *samples, size_t n, enum step_part part, struct step_summary *s);

/* A step that took much longer than the others. */
struct step_outlier {
	uint32_t sample;
	int64_t excess;                 /* of its wall time over the median */
	enum step_part cause;           /* the part that grew most; PART_WALL: none explains it */
	int64_t explained;              /* by how much that is above its own median */
	int64_t calls;                  /* by how much its CUDA calls are above theirs; 0: not, or not known */
};

/*
 * Outliers, the worst first, at most `room` of them; *all gets how many there are.  What makes one: a fifth above the
 * median at least, and five times further away from it than half of the steps are.  -1: out of memory.
 */
int step_outliers(const struct step_sample *samples, size_t n, struct step_outlier *out, size_t room, size_t *all);

#endif
