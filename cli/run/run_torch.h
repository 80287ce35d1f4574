/* Options about PyTorch.  They are collected here and become settings after the last option. */
#ifndef CLI_RUN_RUN_TORCH_H
#define CLI_RUN_RUN_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/config.h"

struct opt;

/* Values of the setting trace_torch, each recording more than the one before. */
enum { TORCH_OFF, TORCH_RANGES, TORCH_OPS };

struct torch_wish {
	uint64_t words;                 /* trace_torch that --pytorch asks for */
	bool shapes, modules, stacks, memory;
	const char *said, *nearest;     /* value of --pytorch, and the note on what is recorded; NULL: nothing was asked for */
};

/* Raises trace_torch to at_least. */
void torch_record(struct config *c, uint64_t at_least);

/* `where` is a struct torch_wish. */
int opt_pytorch(const struct opt *o, const char *value);

/* Fills the settings, after the last option. */
void torch_settle(struct config *c, const struct torch_wish *w);

#endif
