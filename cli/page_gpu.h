/* The page's line on each GPU. */
#ifndef CLI_PAGE_GPU_H
#define CLI_PAGE_GPU_H

#include "cli/model/gpu.h"

#define PAGE_GPU 512

/* "NVIDIA H100: busy 71.2 % of 34.1 ms in 2 recorded windows (pid 77)" */
const char *page_gpu(struct model *m, const struct gpu *g, char text[PAGE_GPU]);

#endif
