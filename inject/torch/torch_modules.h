/*
 * The nn.Modules that the calling thread is in, from its Python frames: the functions through which Module.__call__() runs have the module
 * as their first variable.  Costs a walk of the frames (inject/python/python.h) for each operator that is not inside another one.
 */
#ifndef INJECT_TORCH_TORCH_MODULES_H
#define INJECT_TORCH_TORCH_MODULES_H

#include "inject/core/stream.h"

#define TORCH_INSIDE UINT32_MAX

/* String ids of the modules around an operator, and of their paths (torch_paths.h).  0: none, or this thread's Python cannot be read. */
struct torch_module_stack {
	uint32_t modules, paths;
};

/*
 * Call at the start of an operator, inside stream_enter(), with no row reserved.  .modules is TORCH_INSIDE if it is inside another
 * operator.
 */
struct torch_module_stack torch_modules_look(struct stream *s);

/* Writes the row of modules for the range of an operator that is not inside another one. */
void torch_modules_note(struct stream *s, struct torch_module_stack in, uint64_t range);

#endif
