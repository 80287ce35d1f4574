/* Which nn.Modules PyTorch's outermost operators ran in, as --torch-modules recorded it. */
#ifndef MODEL_TORCH_MODULES_H
#define MODEL_TORCH_MODULES_H

#include "cli/model/torch.h"

/* Between two modules in a text. */
#define MODULES_BETWEEN " > "

/* Whether any was recorded. */
bool model_has_modules(const struct model *m);

/*
 * By position in model_torch()'s list: for an operator that is in no other operator and no autograd node, the string id of its modules,
 * outermost first, or STRING_NONE where it is in none; NO_TORCH for everything else.  free() it; NULL: out of memory.
 */
uint32_t *torch_modules_make(struct model *m, const struct torch_ranges *t);

#endif
