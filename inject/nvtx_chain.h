/*
 * Another NVTX injection that the user had set (GPROF_NEXT_NVTX_INJECTION): it is loaded, gets tables that look like
 * the target's, and every call is passed on to it behind ours, with the handles and range ids that it gave out itself.
 *
 * Where nothing is chained no call passes through here.
 */
#ifndef INJECT_NVTX_CHAIN_H
#define INJECT_NVTX_CHAIN_H

#include "inject/nvtx_hooks.h"

/*
 * For a target whose tables have been filled by us (ours: true; hooks as in nvtx.c) or not.  entry: the name of the
 * function to call. 1: the other one is served; 0: there is none, or it could not be served (*error says why, if there
 * is one).
 */
int chain_install(const void *(*get_export_table)(uint32_t id), const char *entry, bool ours, const char **error);

/* The same for the payload extension, behind nvtx_install_extension(). */
void chain_install_extension(struct nvtx_ext_module *module, bool ours);

/* The functions that nvtx.c puts into tables; the last one has fn NULL. */
extern const struct nvtx_hook *const nvtx_hook_lists[];
extern const struct nvtx_hook nvtx_payload_hooks[];

#endif
