/* The reports that sum up a column by name, all of one shape: one pass, one table. */
#ifndef ANALYZE_SUMS_H
#define ANALYZE_SUMS_H

#include "cli/analyze/report.h"
#include "cli/analyze/stats.h"
#include "cli/model/libraries.h"
#include "cli/model/model.h"
#include "cli/model/names.h"

/* What a pass adds up.  Counters are of all rows taken. */
struct sums {
	struct model *m;
	struct groups groups;
	uint64_t untimed;               /* rows to which CUPTI gave no time */
	uint64_t open;                  /* rows that had not ended when their process did */
	uint64_t nested;                /* ranges within ranges: their time is in both */
	uint64_t others;                /* rows that key() counted as somebody else's */
	const void *filter;             /* for key() */
};

/*
 * One pass over a kind; adds rows to s.  fields: the value, the start that tells whether a 0 is a time (MODEL_SKIP
 * where a 0 is a value), and what key() needs.  key returns false for a row that is not wanted; NULL: the third column
 * is the key.
 */
int sums_pass(struct sums *s, unsigned kind, const unsigned *fields, size_t n_fields,
	      bool (*key)(struct sums *s, const struct batch *b, size_t row, uint64_t *key));
void sums_release(struct sums *s);

/* GPU time by kernel (key: string id of the name as printed) and time in push/pop ranges (key: domain's name << 32 |
 * message). */
int kernels_sum(struct sums *s, enum name_style style);
int ranges_sum(struct sums *s, bool startend);

/* Whose the ranges of a domain are: the program's, or CUDA libraries' or PyTorch's. */
struct range_owner {
	size_t n_libraries;
	uint32_t library[LIBRARY_DOMAINS];      /* string ids of their domains */
	uint32_t torch;                 /* of PyTorch's */
};

void range_owner_begin(struct range_owner *o, struct model *m);
bool range_is_programs(const struct range_owner *o, uint32_t domain);

/* Names what a series is called; the text lives until the table ends. */
int sums_print_times(struct sums *s, struct table *t,
		     const char *(*name)(struct sums *s, struct table *t, uint64_t key));
/* The same with a column more, before the name, if style is not NULL. */
int sums_print_styles(struct sums *s, struct table *t, const char *(*style)(struct sums *s, uint64_t key),
		      const char *(*name)(struct sums *s, struct table *t, uint64_t key));
int sums_print_sizes(struct sums *s, struct table *t,
		     const char *(*name)(struct sums *s, struct table *t, uint64_t key));

#endif
