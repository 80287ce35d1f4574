/* Tells NVTX domains of CUDA libraries (trace/rules/libraries.def) from domains of the program. */
#ifndef CLI_MODEL_NVTX_LIBRARIES_H
#define CLI_MODEL_NVTX_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define LIBRARY_DOMAINS 8u      /* size of an array for all of them */

/* Writes the string ids of the names of all library domains; returns their number.  Not during a pass. */
size_t model_library_domains(struct model *m, uint32_t ids[LIBRARY_DOMAINS]);

/* Whether a domain of a process is a library's. */
bool model_domain_of_library(struct model *m, uint32_t process, uint32_t domain);

#endif
