/* Options about call stacks.  They are collected here and become settings after the last option. */
#ifndef CLI_RUN_RUN_STACKS_H
#define CLI_RUN_RUN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/config.h"

struct opt;

#define STACK_CLASSES 4                 /* kernel, memory, sync, other: bits of the setting cuda_backtrace, in this order */

struct stacks_wish {
	uint64_t classes;
	bool said[STACK_CLASSES];       /* the class was given with a threshold (kernel:ns) */
	uint64_t ns[STACK_CLASSES];     /* that threshold */
	bool all_said;                  /* --cudabacktrace-threshold was given */
	uint64_t all_ns;                /* its value */
};

/* Parsers (options.h); `where` is a struct stacks_wish, or a setting. */
int opt_cudabacktrace(const struct opt *o, const char *value);
int opt_cudabacktrace_threshold(const struct opt *o, const char *value);
int opt_backtrace(const struct opt *o, const char *value);
int opt_backtrace_depth(const struct opt *o, const char *value);
int opt_nvtx_backtrace(const struct opt *o, const char *value);
int opt_python_backtrace(const struct opt *o, const char *value);

/* Fills the settings, after the last option. */
void stacks_settle(struct config *c, const struct stacks_wish *w);

#endif
