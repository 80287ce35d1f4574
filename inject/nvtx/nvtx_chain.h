/*
 * Chaining to a second NVTX injection library, which the user had set (GPROF_NEXT_NVTX_INJECTION).  Loads it and gives it proxies of the
 * target's tables.  Each NVTX call goes to this profiler first, then to the chained library, with the handles and range ids that the
 * chained library returned.
 *
 * Without a chained library, no call goes through this file.
 */
#ifndef INJECT_NVTX_NVTX_CHAIN_H
#define INJECT_NVTX_NVTX_CHAIN_H

#include "inject/nvtx/nvtx_hooks.h"

/*
 * Initializes the chained library for a target.  get_export_table: the target's; entry: name of the library's function to call; ours:
 * nvtx_install() has filled the target's tables.  Returns 1 on success.  Returns 0 when there is no chained library or on failure; *error
 * is then NULL or says why (static text).
 */
int chain_install(const void *(*get_export_table)(uint32_t id), const char *entry, bool ours, const char **error);

/* As chain_install(), for the payload extension; call after nvtx_install_extension(), whose result is `ours`. */
void chain_install_extension(struct nvtx_ext_module *module, bool ours);

/* Hooks of nvtx.c; each list ends with fn NULL. */
extern const struct nvtx_hook *const nvtx_hook_lists[];
extern const struct nvtx_hook nvtx_payload_hooks[];

#endif
