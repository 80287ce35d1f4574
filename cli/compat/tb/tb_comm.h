/* Collectives of a run, with the part of each in which it waited for other ranks (communication.py and loader.py of torch_tb_profiler). */
#ifndef CLI_COMPAT_TB_TB_COMM_H
#define CLI_COMPAT_TB_TB_COMM_H

#include "cli/compat/tb/tb.h"

struct tb_collective {
	uint32_t event;                 /* position in events */
	size_t first, n;                /* ranges[first .. first + n - 1]: of its event and of its kernels */
	uint32_t step;                  /* position in steps; TB_NONE: in no step */
};

struct tb_collectives {
	struct tb_collective *list;     /* by start, at equal starts the longest first */
	size_t n;
	struct timed *ranges;           /* by collective; of one collective by start, the longest first */
	struct timed *transfers;        /* by range: the part in which all ranks took part; NULL: not known */
	size_t n_ranges;
};

/*
 * Finds the collectives of a run; none if it uses both NCCL and Gloo, as in the plugin.  Returns 0, or -1 when out of memory;
 * tb_collectives_release() in any case.
 */
int tb_collectives_make(struct tb_collectives *c, const struct tb_run *r);
void tb_collectives_release(struct tb_collectives *c);

enum tb_match { TB_MATCHED, TB_ALONE, TB_DIFFERENT, TB_SAME_WORKER };

/*
 * Matches the i-th collective of all runs.  Its transfer time is its shortest duration on any run, at its end; the rest of a duration was
 * waiting.  Sets transfers in all[job->n] if *how is TB_MATCHED, else in none.  Returns 0, or -1 when out of memory.
 */
int tb_match(struct tb_collectives *all, const struct tb_job *job, enum tb_match *how);

/* A part of the list of collectives. */
struct tb_part {
	size_t from, to;                /* positions from .. to - 1 */
	uint32_t step, name;            /* only collectives of this step and of this name; TB_NONE: any */
};

/* Union of the ranges of a part, in ns; ranges: c->ranges or c->transfers.  Returns -1 when out of memory. */
int64_t tb_comm_time(const struct tb_collectives *c, const struct tb_run *r, const struct timed *ranges, struct tb_part part);

/* Bytes of the tensors with these shapes and types, in Kineto's notation; -1: not known. */
int64_t tb_bytes(const char *dims, const char *types);

#endif
