/* Options about when rows are recorded.  They are collected here and become settings after the last option. */
#ifndef CLI_RUN_RUN_CAPTURE_H
#define CLI_RUN_RUN_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/config.h"

struct opt;

struct capture_wish {
	uint64_t range, end, repeats;   /* settings capture_range, range_end, range_repeats */
	bool range_said, end_said;      /* given on the command line */
	char nvtx[CONFIG_TEXT];
	char steps[CONFIG_TEXT], schedule[CONFIG_TEXT];
	unsigned n_steps;
	bool steps_none, nvtx_needed, torch_needed;     /* --step=none; steps need NVTX, or PyTorch, to be recorded */
};

/* Parsers (options.h); `where` is a struct capture_wish. */
int opt_capture_range(const struct opt *o, const char *value);
int opt_capture_range_end(const struct opt *o, const char *value);
int opt_stop_on_range_end(const struct opt *o, const char *value);
int opt_nvtx_capture(const struct opt *o, const char *value);
int opt_step(const struct opt *o, const char *value);
int opt_schedule(const struct opt *o, const char *value);

/* Fills the settings, after the last option.  0, or -1 after an error message. */
int capture_settle(struct config *c, struct capture_wish *w);

#endif
