/*
 * The path of an nn.Module in the model, as in named_modules(): its key in its parent's _modules, after the path of the parent.  Modules
 * that are never called (ModuleList, ModuleDict) are part of the path.  Read from the interpreter's memory with guarded reads
 * (python_dict.h): no code of the program runs.
 *
 * An object remembers its parent, its key and the trail; each use compares these with the memory.  An unknown path is searched for,
 * breadth-first, below the outermost module, which finds the paths of all modules there.
 */
#ifndef INJECT_TORCH_TORCH_PATHS_H
#define INJECT_TORCH_TORCH_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* Separates two modules in a text. */
#define TORCH_BETWEEN " > "

#define TORCH_PATHS 4096u       /* bytes of all paths together; further paths are "?" */

/*
 * Writes the paths of n modules, given by index, outermost first, as one text; returns its length.  "."  is the outermost module, "?"  an
 * unknown path or TORCH_NONE.  Returns 0 if this interpreter's memory is not understood.  Call between torch_objects_open() and _close().
 */
size_t torch_paths_write(char out[TORCH_PATHS], const uint32_t *objects, uint32_t n);

#endif
