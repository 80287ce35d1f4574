/* Attribute rows: facts about a process, from /proc, and about the session, from the host and the settings. */
#ifndef COLLECTOR_DESCRIBE_H
#define COLLECTOR_DESCRIBE_H

#include "collector/process.h"
#include "trace/config.h"

/* Call while the process is alive.  s: the session's staging. */
void describe_process(struct staging *s, struct tree_process *p, const struct config *c);

/* Call at the session's start.  moved_from: the output path that could not be used, or "". */
void describe_session(struct staging *s, const struct config *c, const char *moved_from, unsigned clock,
		      const char *boot_id);

/* Call at the session's end. */
void describe_end(struct staging *s);

/* Reads the kernel's boot_id as text; "" when it cannot be read. */
void read_boot_id(char *out, size_t size);

#endif
