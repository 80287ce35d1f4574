/* What Kineto's files say of collectives: arguments of kernels and of the ranges that announce them ("Collective name", "Seq", ...). */
#ifndef ANALYZE_COMM_ARGS_H
#define ANALYZE_COMM_ARGS_H

#include "cli/model/map.h"

#include <stddef.h>
#include <stdint.h>

struct model;

/* String ids; 0: not there. */
struct comm_arg {
	uint32_t op, group, ranks;      /* Collective name, Process Group Name, Process Group Ranks */
	int64_t sequence;               /* Seq; NO_SEQUENCE of collectives.h: not there */
};

struct comm_args {
	struct comm_arg *list;
	size_t n, cap;
	struct map at;                  /* kind of row << 56 | row -> position in list */
};

/* 0, or -1: out of memory.  Of a trace that was not imported there are none. */
int comm_args_read(struct comm_args *a, struct model *m);
void comm_args_release(struct comm_args *a);

/* Of a row of a kind; NULL: nothing. */
const struct comm_arg *comm_arg_of(const struct comm_args *a, unsigned kind, size_t row);

#endif
