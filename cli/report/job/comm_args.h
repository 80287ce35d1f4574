/* Arguments of collectives in Kineto's files, of kernels and of the ranges around their launch ("Collective name", "Seq", ...). */
#ifndef CLI_REPORT_JOB_COMM_ARGS_H
#define CLI_REPORT_JOB_COMM_ARGS_H

#include "cli/model/map.h"

#include <stddef.h>
#include <stdint.h>

struct model;

/* String ids; 0: the event has no such argument. */
struct comm_arg {
	uint32_t op, group, ranks;      /* Collective name, Process Group Name, Process Group Ranks */
	int64_t sequence;               /* Seq; NO_SEQUENCE (collectives.h): no such argument */
};

struct comm_args {
	struct comm_arg *list;
	size_t n, cap;
	struct map at;                  /* kind of row << 56 | row -> position in list */
};

/* Reads the arguments; a recorded trace has none.  Returns 0, or -1 when out of memory; comm_args_release() in any case. */
int comm_args_read(struct comm_args *a, struct model *m);
void comm_args_release(struct comm_args *a);

/* The arguments of a row (ROW_kernel or ROW_range), owned by a; NULL: none. */
const struct comm_arg *comm_arg_of(const struct comm_args *a, unsigned kind, size_t row);

#endif
