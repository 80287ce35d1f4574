/* Recognises operations of communication libraries by name: of a kernel, of a range, or Kineto's "Collective name". */
#ifndef CLI_MODEL_GPU_COLLECTIVES_H
#define CLI_MODEL_GPU_COLLECTIVES_H

#include <stddef.h>

enum collective_kind {
	COLLECTIVE_UNKNOWN,             /* not told by the name */
	COLLECTIVE_ALL,                 /* no rank ends before all ranks have begun: all_reduce, all_gather, ... */
	COLLECTIVE_ROOTED,              /* one rank is the root: broadcast, reduce, gather, scatter */
	COLLECTIVE_POINT,               /* between two ranks: send, receive */
};

/* An operation; all names of it give the same pointer into the table of collectives.c. */
struct collective_op {
	const char *word;               /* "all_reduce" */
	enum collective_kind kind;
};

/* The operation of a name.  Ignores case, underscores, template arguments and parameters.  Never NULL. */
const struct collective_op *collective_op_of(const char *name);

/*
 * The operation's part of a range's name: "all_reduce" of PyTorch's "nccl:all_reduce", "AllReduce" of NCCL's "ncclAllReduce".  Points into
 * name.  NULL: not a range of one operation.
 */
const char *collective_of_range(const char *name);

#endif
