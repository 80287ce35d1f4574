/*
 * Exported entry points besides the interposed functions (lifecycle.c); exports.txt lists all exports.  Called by the driver and NVTX
 * only.
 */
#ifndef INJECT_PROCESS_ENTRY_H
#define INJECT_PROCESS_ENTRY_H

#include "inject/nvtx/nvtx_abi.h"

/* Called by the CUDA driver inside its first cuInit(), on that thread.  Returns 1 (success). */
int InitializeInjection(void);

/*
 * Called by libnvToolsExt.so of NVTX 2, and by each module that uses NVTX 3, at its first NVTX call.  Returning 0 disables NVTX in that
 * module for good.
 */
int InitializeInjectionNvtx(const void *(*get_export_table)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

/* Called by each module that uses an NVTX extension, once per extension.  Returns 1. */
int InitializeInjectionNvtxExtension(struct nvtx_ext_module *module);

#endif
