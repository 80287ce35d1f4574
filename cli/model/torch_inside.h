/* What torch.c and torch_phases.c keep in a model. */
#ifndef MODEL_TORCH_INSIDE_H
#define MODEL_TORCH_INSIDE_H

#include "cli/model/torch.h"

struct torch_made {
	struct torch_ranges public;
	bool made;
	bool looked, has;               /* model_has_torch() was asked; what it said of the domains */
	struct phases *phases;          /* by process */
};

/* NULL: out of memory. */
struct torch_made *torch_made(struct model *m);

#endif
