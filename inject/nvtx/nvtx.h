/* NVTX versions 2 and 3, through NVTX's injection interface: records the NVTX calls of each module of the program. */
#ifndef INJECT_NVTX_NVTX_H
#define INJECT_NVTX_NVTX_H

#include "inject/nvtx/nvtx_abi.h"

/*
 * Puts the hooks into the callback tables of a target, that is one module's copy of NVTX (InitializeInjectionNvtx, ...Nvtx2).  Returns 1,
 * or 0 to disable NVTX in this module.  Called while all other threads wait in NVTX: must not connect or block.
 */
int nvtx_install(const void *(*get_export_table)(uint32_t id));

/* As nvtx_install(), for a target's extension tables (InitializeInjectionNvtxExtension).  Returns 0 when nothing is recorded here. */
int nvtx_install_extension(const struct nvtx_ext_module *module);

#endif
