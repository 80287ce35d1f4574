/* What the command line says about PyTorch, until all of it is read. */
#ifndef CLI_RUN_TORCH_H
#define CLI_RUN_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/config.h"

struct opt;

/* Values of setting trace_torch. */
enum { TORCH_OFF, TORCH_RANGES, TORCH_OPS };

struct torch_wish {
	uint64_t words;                 /* of --pytorch: as trace_torch */
	bool shapes, modules, stacks, memory;
	const char *said, *nearest;     /* its value, and what is recorded for it; NULL: nothing was asked for */
};

/* At least this. */
void torch_record(struct config *c, uint64_t at_least);

/* `where` is a struct torch_wish. */
int opt_pytorch(const struct opt *o, const char *value);

/* After the last option: into the settings. */
void torch_settle(struct config *c, const struct torch_wish *w);

#endif
