/* The page's lines about GPUs. */
#ifndef CLI_PAGE_PAGE_GPU_H
#define CLI_PAGE_PAGE_GPU_H

struct model;
struct page_lines;

/*
 * Adds the name of each GPU, its busy share and the processes that used it; of more than 3 GPUs the least busy, the busiest
 * and the median.  0, or -1: out of memory.
 */
int page_gpus(struct page_lines *p, struct model *m);

#endif
