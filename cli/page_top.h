/* The page's table of kernels or ranges: the ones that took most time. */
#ifndef CLI_PAGE_TOP_H
#define CLI_PAGE_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct out;

/* 1,234,567 */
const char *page_number(char text[32], uint64_t n);

/*
 * Kernels, else push/pop ranges, else start/end ranges (*startend), which are called as `ranges` says.  The share of kernels is that of
 * the time of all kernels; of push/pop ranges, which lie in each other, that of their self times.  0, or -1: out of memory.
 */
int page_top(struct model *m, struct out *out, size_t width, const char *ranges, bool *startend);

#endif
