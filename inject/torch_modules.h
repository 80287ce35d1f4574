/*
 * Which nn.Modules the calling thread is in, from its Python frames: those of Module.__call__()'s own function have the module as their
 * first variable.  Costs a walk through the frames (inject/python.h) for each operator that is in no other one.
 */
#ifndef INJECT_TORCH_MODULES_H
#define INJECT_TORCH_MODULES_H

#include "inject/stream.h"

#define TORCH_INSIDE UINT32_MAX

/* String ids: the modules around an operator, and their paths (torch_paths.h).  0: none, or this thread's Python cannot be read. */
struct torch_nesting {
	uint32_t modules, paths;
};

/* An operator begins.  .modules TORCH_INSIDE: it is in another one.  In a stream, with nothing reserved. */
struct torch_nesting torch_modules_look(struct stream *s);

/* The range of an operator that is not inside of another one: writes the row of its modules. */
void torch_modules_note(struct stream *s, struct torch_nesting in, uint64_t range);

#endif
