/* Which nn.Modules PyTorch's outermost operators ran in, as --torch-modules recorded it. */
#ifndef MODEL_TORCH_MODULES_H
#define MODEL_TORCH_MODULES_H

#include "cli/model/torch.h"

/* Between two modules in a text. */
#define MODULES_BETWEEN " > "

/* Whether any was recorded. */
bool model_has_modules(const struct model *m);

/* String ids, outermost module first in both. */
struct torch_nesting {
	uint32_t modules;               /* STRING_NONE: in none; NO_TORCH: no such operator */
	uint32_t paths;                 /* of each of them; STRING_NONE: not recorded */
};

/* In paths: the outermost module itself, and one whose path is not known. */
#define PATH_OUTERMOST "."
#define PATH_UNKNOWN   "?"

/* The innermost one's part of such a text. */
const char *torch_modules_last(const char *text);

/*
 * By position in model_torch()'s list: where operators ran that are in no other operator and no autograd node.  free() it; NULL: out of
 * memory.
 */
struct torch_nesting *torch_modules_make(struct model *m, const struct torch_ranges *t);

#endif
