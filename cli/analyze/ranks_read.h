/* The ranks of a job, and what each of them did in collectives, out of one trace or several. */
#ifndef ANALYZE_RANKS_READ_H
#define ANALYZE_RANKS_READ_H

#include "cli/analyze/collectives.h"

#include <stddef.h>
#include <stdint.h>

struct model;

struct rank {
	struct model *m;
	uint32_t process;               /* position in model_processes() */
	int64_t number;                 /* -1: not known */
	size_t unknown;                 /* communication kernels whose operation nothing names, or that have no time */
};

struct ranks {
	struct rank *list;              /* by number */
	struct collectives *collectives;        /* of each */
	size_t n;
};

/*
 * A rank is a process that has rows of a GPU.  0, or -1: out of memory; ranks_release() in any case.  ranks_read() finds ranks only;
 * ranks_collectives() reads what they did together.
 */
int ranks_read(struct ranks *r, struct model *const *models, size_t n);
int ranks_collectives(struct ranks *r);
void ranks_release(struct ranks *r);

/* Two of one number cannot be told apart: that number, or -1. */
int64_t ranks_twice(const struct ranks *r);

#endif
