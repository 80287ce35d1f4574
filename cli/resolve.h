/* Writing into a trace what it needs to be read elsewhere: names and lines of the code in its stacks, and Python sources. */
#ifndef CLI_RESOLVE_H
#define CLI_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolve {
	const char *symfs;              /* folder that stands for /, or NULL */
	int64_t deadline;               /* MONOTONIC ns when to end with what there is; 0: never */
	bool sources;                   /* of Python, too */
};

struct resolved {
	size_t addresses, known, lined; /* in stacks; with a name, with a line in the trace now */
	size_t added;                   /* addresses that have more now */
	size_t sources;                 /* files that were added */
	bool late;                      /* the deadline came first */
};

/* Changes the trace in place, if there is anything new.  0, or -1: said. */
int resolve_trace(const char *path, const struct resolve *how, struct resolved *out);

#endif
