/* What the command line says about call stacks, until all of it is read. */
#ifndef CLI_RUN_STACKS_H
#define CLI_RUN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/config.h"

struct opt;

#define STACK_CLASSES 4                 /* kernel, memory, sync, other: bits of setting cuda_backtrace */

struct stacks_wish {
	uint64_t classes;
	bool said[STACK_CLASSES];       /* a class has a threshold of its own */
	uint64_t ns[STACK_CLASSES];
	bool all_said;                  /* --cudabacktrace-threshold */
	uint64_t all_ns;
};

/* Options; `where` is a struct stacks_wish, or a setting. */
int opt_cudabacktrace(const struct opt *o, const char *value);
int opt_cudabacktrace_threshold(const struct opt *o, const char *value);
int opt_backtrace(const struct opt *o, const char *value);
int opt_backtrace_depth(const struct opt *o, const char *value);
int opt_nvtx_backtrace(const struct opt *o, const char *value);
int opt_python_backtrace(const struct opt *o, const char *value);

/* After the last option: into the settings. */
void stacks_settle(struct config *c, const struct stacks_wish *w);

#endif
