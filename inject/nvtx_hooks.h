/*
 * Our functions for the slots of NVTX's tables, by module: nvtx.c and nvtx_resources.c have them, nvtx.c puts them in.
 */
#ifndef INJECT_NVTX_HOOKS_H
#define INJECT_NVTX_HOOKS_H

#include "inject/nvtx_abi.h"
#include "inject/stream.h"

struct nvtx_hook {
	uint32_t module, id;            /* enum nvtx_module, position in its table */
	nvtx_function fn;
};

#define NVTX_HOOK(module, id, fn) { NVTX_MODULE_##module, NVTX_##id, (nvtx_function)(fn) }

/* Names of handles: resources of domains, CUDA's devices, contexts, streams and events.  The last one has fn NULL. */
extern const struct nvtx_hook nvtx_resource_hooks[];

/* String id of a message of one of the three kinds; 0: none. */
uint32_t nvtx_message(struct stream *s, int32_t type, union nvtx_text message);

#endif
