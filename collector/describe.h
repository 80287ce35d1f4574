/* Facts as attribute rows: about a process, from /proc; about the session, from the host and the settings. */
#ifndef COLLECTOR_DESCRIBE_H
#define COLLECTOR_DESCRIBE_H

#include "collector/process.h"
#include "trace/config.h"

/* The process is alive.  s: the session's staging. */
void describe_process(struct staging *s, struct process *p, const struct config *c);

/* At the session's start. */
void describe_session(struct staging *s, const struct config *c, const char *moved_from, unsigned clock,
		      const char *boot_id);

/* At its end. */
void describe_end(struct staging *s);

/* The kernel's "boot_id" as text, "" when it cannot be read. */
void read_boot_id(char *out, size_t size);

#endif
