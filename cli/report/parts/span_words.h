/* A GPU span (cli/model/gpu/gpu_span.h) in words: the base of shares of busy and idle time. */
#ifndef CLI_REPORT_PARTS_SPAN_WORDS_H
#define CLI_REPORT_PARTS_SPAN_WORDS_H

#include <stdint.h>

struct model;
struct spans;

#define SPAN_WORDS 128

/*
 * "the 661 ms from the first to the last GPU row", "34.1 ms in 2 recorded windows", "5.61 ms of 1 selected step".  length: of the span, ns;
 * windows: number of recorded windows in it, 0 when recorded whole; process: the process whose selected steps are counted, 0: all.  Returns
 * text.
 */
const char *span_words(struct model *m, int64_t length, uint32_t windows, uint32_t process, char text[SPAN_WORDS]);

/* span_words() of the GPU span of a process.  Returns text. */
const char *span_words_of(struct model *m, uint32_t process, const struct spans *span, char text[SPAN_WORDS]);

/* Number of selected steps that were recorded, of a process (0: of all). */
uint32_t selected_steps(struct model *m, uint32_t process);

#endif
