/* Hook functions for the slots of NVTX's tables.  nvtx.c and nvtx_resources.c define them; nvtx.c installs them. */
#ifndef INJECT_NVTX_NVTX_HOOKS_H
#define INJECT_NVTX_NVTX_HOOKS_H

#include "inject/core/stream.h"
#include "inject/nvtx/nvtx_abi.h"

struct nvtx_hook {
	uint32_t module, id;            /* enum nvtx_module, index in its table */
	nvtx_function fn;
};

#define NVTX_HOOK(module, id, fn) { NVTX_MODULE_##module, NVTX_##id, (nvtx_function)(fn) }

/* Hooks that name resources: objects of domains; CUDA devices, contexts, streams and events.  The list ends with fn NULL. */
extern const struct nvtx_hook nvtx_resource_hooks[];

/* Returns the string id of a message of type NVTX_TEXT, NVTX_WIDE or NVTX_REGISTERED; 0 for other types. */
uint32_t nvtx_message(struct stream *s, int32_t type, union nvtx_text message);

#endif
