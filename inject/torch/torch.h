/*
 * PyTorch's ranges: user scopes, autograd nodes and, with -t torch-ops, operators.  They become ranges of the domain "PyTorch" on the same
 * stack as NVTX ranges.  Without PyTorch, or with an unknown PyTorch, this costs and changes nothing.
 */
#ifndef INJECT_TORCH_TORCH_H
#define INJECT_TORCH_TORCH_H

#include <stdbool.h>

#include "inject/torch/torch_abi.h"

/*
 * Looks for libtorch_cpu; binds, tests and observes the first one found.  Idempotent; may take the loader's lock.  Call outside
 * stream_enter().
 */
void torch_look(void);

/* As torch_look(), when the object that contains this address is being initialized; does nothing unless it needs a library of PyTorch. */
void torch_look_after(const void *dso);

/* Looks up the library's functions.  Returns NULL, or the name of a missing symbol. */
const char *torch_bind(struct torch *t, void *library);

/* Tests this library, with objects made for the test.  Sets the offsets in *t.  Returns NULL, or static text that says what differs. */
const char *torch_try(struct torch *t);

/* Registers the callbacks, for the rest of the process.  operators: also operators; shapes: also their inputs. */
void torch_observe(const struct torch *t, bool operators, bool shapes);

#endif
