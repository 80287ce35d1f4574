/* A library with its own copy of NVTX: its first call loads the tool named by NVTX_INJECTION64_PATH, even if other copies have done so. */
#include <nvtx3/nvToolsExt.h>

void module_ranges(const char *name, int n);

void module_ranges(const char *name, int n)
{
	for (int i = 0; i < n; i++) {
		nvtxRangePushA(name);
		nvtxRangePop();
	}
}
