/* Copies a trace without host, paths, arguments, environment and sources; replaces names on request. */
#ifndef CLI_CMD_REDACT_H
#define CLI_CMD_REDACT_H

#include <stddef.h>

#include "cli/cmd/redact_texts.h"
#include "trace/error.h"
#include "trace/records.h"

/* A row of redact_rules.def, for a field of unit STRING, or of unit LEN for the record's tail; NULL: no such row. */
struct redact_text_rule {
	unsigned kind, field;
	enum redact_rule rule;
	const char *word;
};
const struct redact_text_rule *redact_rule_of(unsigned kind, unsigned field);

/*
 * Writes a redacted copy of the trace of m, which is a file, to fd and closes fd.  names, keep: see struct redact_texts.
 * Afterwards m must not be used for reports: its times are no longer converted from the clocks.  0, or -1 with *err set.
 */
int redact_write(struct model *m, int fd, const char *names, const char *keep, struct trace_error *err);

#endif
