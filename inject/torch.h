/*
 * PyTorch's ranges: user scopes and autograd nodes, with -t torch-ops operators too, as ranges of the domain "PyTorch" on the same stack as NVTX's.
 * A program without PyTorch, or a PyTorch that is not as we know it, costs nothing and loses nothing.
 */
#ifndef INJECT_TORCH_H
#define INJECT_TORCH_H

#include <stdbool.h>

#include "inject/torch_abi.h"

/* Is libtorch_cpu there by now?  Then, once, it is tried and observed.  Idempotent; may take the loader's lock. */
void torch_look(void);

/* The object with this address is being initialised: libtorch_cpu is looked for only if it needs a library of PyTorch's. */
void torch_look_after(const void *dso);

/* Its functions into t: NULL, or what is missing. */
const char *torch_bind(struct torch *t, void *library);

/* Tries all that we rely on with this very library, before anything of the program's is observed: NULL, or what is not as it should be. */
const char *torch_try(struct torch *t);

/* From now on. */
void torch_observe(const struct torch *t, bool operators, bool shapes);

#endif
