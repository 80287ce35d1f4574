/* The nn.Modules in which PyTorch's outermost operators ran, recorded by --torch-modules. */
#ifndef CLI_MODEL_TORCH_TORCH_MODULES_H
#define CLI_MODEL_TORCH_TORCH_MODULES_H

#include "cli/model/torch/torch.h"

/* Separator of modules in a text. */
#define MODULES_BETWEEN " > "

/* Whether the trace has modules. */
bool model_has_modules(const struct model *m);

/* String ids, outermost module first in both. */
struct torch_nesting {
	uint32_t modules;               /* STRING_NONE: in no module; NO_TORCH: not an outermost operator */
	uint32_t paths;                 /* path of each module; STRING_NONE: not recorded */
};

/* In paths: the outermost module itself; a module with an unknown path. */
#define PATH_OUTERMOST "."
#define PATH_UNKNOWN   "?"

/* The part of the innermost module in a text with separators; points into text. */
const char *torch_modules_last(const char *text);

/*
 * By position in model_torch()'s list: modules of operators that are in no other operator and no autograd node.  free() it; NULL: out of
 * memory.
 */
struct torch_nesting *torch_modules_make(struct model *m, const struct torch_ranges *t);

#endif
