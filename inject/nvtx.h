/* NVTX through our own injection, versions 2 and 3: the calls of every module of the program that uses it. */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

#include "inject/nvtx_abi.h"

/*
 * Puts our functions into the table of a target (InitializeInjectionNvtx, ...Nvtx2).  1, or 0: switch this module's
 * NVTX off.
 */
int nvtx_install(const void *(*get_export_table)(uint32_t id));

/* The same for its extension modules (InitializeInjectionNvtxExtension).  0: nothing of this target is recorded. */
int nvtx_install_extension(const struct nvtx_ext_module *module);

#endif
