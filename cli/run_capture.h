/* What the command line says about when rows are kept, until all of it is read. */
#ifndef CLI_RUN_CAPTURE_H
#define CLI_RUN_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/config.h"

struct opt;

struct capture_wish {
	uint64_t range, end, repeats;   /* as the settings of the same name */
	bool range_said, end_said;
	char nvtx[CONFIG_TEXT];
	char steps[CONFIG_TEXT], schedule[CONFIG_TEXT];
	unsigned n_steps;
	bool steps_none, nvtx_needed, torch_needed;
};

/* Options; `where` is a struct capture_wish. */
int opt_capture_range(const struct opt *o, const char *value);
int opt_capture_range_end(const struct opt *o, const char *value);
int opt_stop_on_range_end(const struct opt *o, const char *value);
int opt_nvtx_capture(const struct opt *o, const char *value);
int opt_step(const struct opt *o, const char *value);
int opt_schedule(const struct opt *o, const char *value);

/* After the last option: into the settings.  0, or -1 having spoken. */
int capture_settle(struct config *c, struct capture_wish *w);

#endif
