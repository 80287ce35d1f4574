/* A GPU span (cli/model/gpu_span.h) in words: of what a share of busy or idle time is a share. */
#ifndef ANALYZE_SPAN_WORDS_H
#define ANALYZE_SPAN_WORDS_H

#include <stdint.h>

struct model;
struct spans;

#define SPAN_WORDS 128

/*
 * "the 661 ms from the first to the last GPU row", "34.1 ms in 2 recorded windows", "5.61 ms of 1 selected step".
 * windows: how many it has, 0 of what was recorded whole; process: whose selected steps count (0: of all).
 */
const char *span_words(struct model *m, int64_t length, uint32_t windows, uint32_t process, char text[SPAN_WORDS]);

/* The same of the GPU span of a process. */
const char *span_words_of(struct model *m, uint32_t process, const struct spans *span, char text[SPAN_WORDS]);

/* Selected steps that were recorded; of a process, or (0) of all. */
uint32_t selected_steps(struct model *m, uint32_t process);

#endif
