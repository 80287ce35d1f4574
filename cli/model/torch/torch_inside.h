/* PyTorch data of a model; private to cli/model/torch. */
#ifndef CLI_MODEL_TORCH_TORCH_INSIDE_H
#define CLI_MODEL_TORCH_TORCH_INSIDE_H

#include "cli/model/torch/torch.h"

struct torch_derived {
	struct torch_ranges public;
	bool made;
	bool looked, has;               /* model_has_torch() was called; its result */
	struct phases *phases;          /* by process */
};

/* The model's torch_derived, allocated on the first call; NULL: out of memory. */
struct torch_derived *torch_derived(struct model *m);

#endif
