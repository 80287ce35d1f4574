/* What an operation of a communication library is, told from a name: a kernel's, a scope's, or Kineto's "Collective name". */
#ifndef MODEL_COLLECTIVES_H
#define MODEL_COLLECTIVES_H

#include <stddef.h>

enum collective_kind {
	COLLECTIVE_UNKNOWN,             /* the name does not say */
	COLLECTIVE_ALL,                 /* nobody is done before everybody came: all_reduce, all_gather, ... */
	COLLECTIVE_ROOTED,              /* one rank has another part in it: broadcast, reduce, gather, scatter */
	COLLECTIVE_POINT,               /* send, receive: between two ranks */
};

/* A row of the table in collectives.c; names of one operation give the same row. */
struct collective_op {
	const char *word;               /* "all_reduce" */
	enum collective_kind kind;
};

/* Letters in either case, underscores ignored; a name ends at its template arguments or parameters.  Never NULL. */
const struct collective_op *collective_op_of(const char *name);

/*
 * The operation's part of the name of a range that announces one: "all_reduce" of PyTorch's "nccl:all_reduce", "AllReduce" of NCCL's
 * "ncclAllReduce".  NULL: the range announces none, or only a group of them.
 */
const char *collective_of_range(const char *name);

#endif
