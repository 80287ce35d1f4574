/* How the steps of a trace were found, for people. */
#ifndef ANALYZE_STEPS_HOW_H
#define ANALYZE_STEPS_HOW_H

#include <stddef.h>

struct model;
struct steps;

/*
 * One sentence without a full stop: "NVTX ranges with the names of steps, ProfilerStep#3 the first", or why there are
 * none.  Returns text.
 */
const char *steps_how(struct model *m, const struct steps *s, char *text, size_t size);

/* "120 steps, 20 steps of kind val" */
const char *steps_count(struct model *m, const struct steps *s, char *text, size_t size);

/* What began a window: "--delay or an order", "cudaProfilerStart", ... */
const char *window_cause(unsigned cause);

#endif
