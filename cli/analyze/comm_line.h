/* Communication between GPUs in words. */
#ifndef ANALYZE_COMM_LINE_H
#define ANALYZE_COMM_LINE_H

#include <stddef.h>

struct gpu_times;
struct model;

/* "15.6 ms, 13.1 ms (84 %) exposed" */
const char *comm_words(const struct gpu_times *t, char *text, size_t size);

/*
 * Of the median step, or of the GPU span where there are no steps, for the page; of the process that has most steps, or
 * most of it.  "": no communication kernel ran, it is not known how long, or to look takes too long.  0, or -1: out of
 * memory.
 */
int comm_line(struct model *m, char *text, size_t size);

#endif
