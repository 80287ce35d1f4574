/* Steps of one kind: mean, percentiles, outliers and what explains them. */
#ifndef CLI_REPORT_STEPS_STEP_STATS_H
#define CLI_REPORT_STEPS_STEP_STATS_H

#include <stddef.h>
#include <stdint.h>

enum step_part { PART_WALL, PART_BUSY, PART_COMPUTE, PART_COMM, PART_EXPOSED, PART_COPIES, PART_IDLE, PART_CALLS, STEP_PARTS };

/* "compute", ...: the words of the report */
extern const char *const step_part_words[STEP_PARTS];

/* The times of one step in ns; -1: not known. */
struct step_sample {
	int64_t part[STEP_PARTS];
	uint32_t step;                  /* the caller's number of the step; not read here */
};

struct step_summary {
	size_t n;                       /* number of samples with a known part; 0: the other fields are not valid */
	int64_t mean, p50, p95, max;
};

/* Percentile by nearest rank: the value number ceil(n * percent / 100) of n sorted values.  n > 0. */
int64_t percentile(const int64_t *sorted, size_t n, unsigned percent);
/* As percentile(), for values in any order; sorts them. */
int64_t percentile_of(int64_t *values, size_t n, unsigned percent);

/* Summary of one part over all samples.  Returns 0, or -1 when out of memory. */
int step_summary_of(const struct step_sample *samples, size_t n, enum step_part part, struct step_summary *s);

/* A step that took much longer than the median step. */
struct step_outlier {
	uint32_t sample;                /* position in samples */
	int64_t excess;                 /* wall time - median wall time */
	enum step_part cause;           /* part with the largest excess over its own median; PART_WALL: none explains a third of excess */
	int64_t explained;              /* excess of that part over its median */
	int64_t calls;                  /* excess of PART_CALLS over its median; 0: none, or not known */
};

/*
 * A step is an outlier if its excess is above 20 % of the median and above 5 times the median absolute deviation of wall times.  Puts at
 * most `room` outliers into out, largest excess first, and the number of all into *all.  Returns the number in out, or -1: out of memory.
 */
int step_outliers(const struct step_sample *samples, size_t n, struct step_outlier *out, size_t room, size_t *all);

#endif
