/* Reports that sum up one column by name: one pass over the rows, then one table. */
#ifndef CLI_REPORT_PARTS_SUMS_H
#define CLI_REPORT_PARTS_SUMS_H

#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/nvtx/libraries.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/stats.h"

/* The result of a pass.  Several passes may add to one struct sums. */
struct sums {
	struct model *m;
	struct groups groups;
	uint64_t untimed;               /* rows to which CUPTI gave no time */
	uint64_t open;                  /* rows that had not ended when their process did */
	uint64_t nested;                /* ranges inside another range: their time counts in both */
	uint64_t others;                /* ranges that key() left out because of their owner */
	const void *filter;             /* argument of key() */
};

/*
 * Adds all rows of a kind to s.  fields: [0] the value, [1] the start, [2...] what key() reads.  A value of 0 with a start of 0 is unknown;
 * MODEL_SKIP as fields[1]: 0 is a value.  key: sets *key, returns false to skip the row; NULL: column 2 is the key.  Returns 0, or -1 when
 * out of memory; sums_release() in any case.
 */
int sums_pass(struct sums *s, unsigned kind, const unsigned *fields, size_t n_fields,
	      bool (*key)(struct sums *s, const struct batch *b, size_t row, uint64_t *key));
void sums_release(struct sums *s);

/* GPU time by kernel; key: string id of the name in this style.  Returns 0, or -1 when out of memory. */
int kernels_sum(struct sums *s, enum name_style style);
/* Host time in the program's push/pop or start/end ranges; key: name of the domain << 32 | message.  Returns 0, or -1: out of memory. */
int ranges_sum(struct sums *s, bool startend);

/* Domains of ranges that CUDA libraries and PyTorch push; ranges of all other domains are the program's. */
struct range_owner {
	size_t n_libraries;
	uint32_t library[LIBRARY_DOMAINS];      /* string ids of the domains of CUDA libraries */
	uint32_t torch;                 /* string id of PyTorch's domain */
};

/* Fills *o; o has nothing to release. */
void range_owner_begin(struct range_owner *o, struct model *m);
/* domain: string id of the domain's name. */
bool range_is_programs(const struct range_owner *o, uint32_t domain);

/*
 * Prints one row per series, sorted by sum; sorts s->groups.  name: text of the key, valid until the table ends.  Returns 0, or -1 when out
 * of memory.
 */
int sums_print_times(struct sums *s, struct table *t,
		     const char *(*name)(struct sums *s, struct table *t, uint64_t key));
/* As sums_print_times(), with style() as one more column before the name; style NULL: without. */
int sums_print_styles(struct sums *s, struct table *t, const char *(*style)(struct sums *s, uint64_t key),
		      const char *(*name)(struct sums *s, struct table *t, uint64_t key));
/* As sums_print_times(), for values in bytes, printed in MB (10^6 bytes). */
int sums_print_sizes(struct sums *s, struct table *t,
		     const char *(*name)(struct sums *s, struct table *t, uint64_t key));

#endif
