/* Adds names and lines of the code in call stacks, and Python sources, to a trace, so that it can be read on other machines. */
#ifndef CLI_CMD_RESOLVE_H
#define CLI_CMD_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sources { SOURCES_OWN, SOURCES_ALL, SOURCES_NONE };        /* own: without the standard library and packages */

struct resolve {
	const char *symfs;              /* folder used in place of /, or NULL */
	int64_t deadline;               /* CLOCK_MONOTONIC ns; stop then and write what was found; 0: none */
	enum sources sources;           /* Python sources to store */
};

struct resolved {
	size_t addresses, known, lined; /* addresses in stacks; of these with a name, with a line, after the call */
	size_t added;                   /* addresses for which something was added */
	size_t sources;                 /* source files added */
	bool late;                      /* stopped at the deadline */
};

/* Appends to the trace, in place, what is new.  *out is set.  0, or -1 after an error message. */
int resolve_trace(const char *path, const struct resolve *how, struct resolved *out);

#endif
