/* Which NVTX domains are those of CUDA libraries (trace/libraries.def) rather than the program's own. */
#ifndef MODEL_LIBRARIES_H
#define MODEL_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define LIBRARY_DOMAINS 8u      /* room for them */

/* String ids of the names of their domains; the number of them.  Not during a pass. */
size_t model_library_domains(struct model *m, uint32_t ids[LIBRARY_DOMAINS]);

/* Is a domain of a process one of them? */
bool model_domain_of_library(struct model *m, uint32_t process, uint32_t domain);

#endif
