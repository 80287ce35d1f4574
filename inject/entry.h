/* What the object exports besides the interposed functions (lifecycle.c); exports.txt lists all.  Called by others, never by us. */
#ifndef INJECT_ENTRY_H
#define INJECT_ENTRY_H

#include "inject/nvtx_abi.h"

/* By the CUDA driver, inside its first cuInit, on the thread that called it.  1: success. */
int InitializeInjection(void);

/* By libnvToolsExt.so of NVTX 2, and by each module that uses NVTX 3, at its first NVTX call.  0: that module's NVTX is off for good. */
int InitializeInjectionNvtx(const void *(*get_export_table)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

/* By each module that uses an NVTX extension, once an extension. */
int InitializeInjectionNvtxExtension(struct nvtx_ext_module *module);

#endif
