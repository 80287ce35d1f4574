/* Words about how the steps of a trace were found. */
#ifndef CLI_REPORT_STEPS_STEPS_HOW_H
#define CLI_REPORT_STEPS_STEPS_HOW_H

#include <stddef.h>

struct model;
struct steps;

/*
 * How the steps were found, or why there are none, as a sentence without a full stop: "steps are NVTX ranges with the names of steps
 * (ProfilerStep#3, ...)".  Returns text.
 */
const char *steps_how(struct model *m, const struct steps *s, char *text, size_t size);

/* "120", "100 of kind train, 20 of kind val", "none".  Returns text. */
const char *steps_count(struct model *m, const struct steps *s, char *text, size_t size);

/* What started a window: "program", "order", "cudaProfilerStart", "nvtx", "schedule", "unknown". */
const char *window_cause(unsigned cause);

#endif
