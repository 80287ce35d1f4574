/*
 * Where in the model an nn.Module hangs: the key under which it stands in its parent's _modules, and the parent in its parent's, which
 * are the names of named_modules().  Modules that are never called themselves (ModuleList, ModuleDict) are part of the way.  Read
 * guarded out of the interpreter's memory (python_dict.h): no code of the program runs.
 *
 * An object remembers its parent, the key and where it stands there; each time that it is asked for, this is held against the memory.
 * What is not known that way is searched for, breadth first through all that hangs below the outermost module, which then knows about
 * all of them.
 */
#ifndef INJECT_TORCH_PATHS_H
#define INJECT_TORCH_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* Between two modules in a text. */
#define TORCH_BETWEEN " > "

#define TORCH_PATHS 4096u       /* bytes of all paths together; those beyond are not known */

/*
 * The paths of n modules, outermost first, by their indices, as one text; its length.  "." is the outermost one that holds the others,
 * "?" not known, or no index (TORCH_NONE).  0: this interpreter's memory is not understood.  Between torch_objects_open() and _close().
 */
size_t torch_paths_write(char out[TORCH_PATHS], const uint32_t *objects, uint32_t n);

#endif
