/*
 * Collectives of a run, and what of each was waiting for the other ranks (communication.py and loader.py of
 * torch_tb_profiler).
 */
#ifndef ANALYZE_TB_COMM_H
#define ANALYZE_TB_COMM_H

#include "cli/analyze/tb.h"

struct tb_collective {
	uint32_t event;
	size_t first, n;                /* its ranges: its own and those of its kernels */
	uint32_t step;                  /* position in steps; TB_NONE: in none */
};

struct tb_collectives {
	struct tb_collective *list;     /* by start, the longer one first */
	size_t n;
	struct timed *ranges;           /* of one after the other; in each by start, the longer one first */
	struct timed *transfers;        /* of each range the part in which all ranks took part; NULL: not known */
	size_t n_ranges;
};

/* 0, or -1: out of memory.  A run that talks through two libraries has none, as the plugin has it. */
int tb_collectives_make(struct tb_collectives *c, const struct tb_run *r);
void tb_collectives_release(struct tb_collectives *c);

enum tb_match { TB_MATCHED, TB_ALONE, TB_DIFFERENT, TB_SAME_WORKER };

/*
 * The i-th collective of each run is the same one: what it took is the shortest time it had on any of them, at the end of
 * each.  Gives all of them transfers, or none.  -1: out of memory.
 */
int tb_match(struct tb_collectives *all, const struct tb_job *job, enum tb_match *how);

/* A part of the list. */
struct tb_part {
	size_t from, to;
	uint32_t step, name;            /* only those of this step, of this name; TB_NONE: of any */
};

/* Time in which any of these ranges ran, c->ranges or c->transfers.  -1: out of memory. */
int64_t tb_comm_time(const struct tb_collectives *c, const struct tb_run *r, const struct timed *ranges, struct tb_part part);

/* Bytes of tensors of these shapes and types, as Kineto writes both; -1: not known. */
int64_t tb_bytes(const char *dims, const char *types);

#endif
