/* NVTX as plain functions, for ctypes: train.py uses it if the nvtx package is not installed. */
#include <nvtx3/nvToolsExt.h>

void nvtx_push(const char *name);
void nvtx_pop(void);
void nvtx_mark(const char *name);

void nvtx_push(const char *name)
{
	nvtxRangePushA(name);
}

void nvtx_pop(void)
{
	nvtxRangePop();
}

void nvtx_mark(const char *name)
{
	nvtxMarkA(name);
}
