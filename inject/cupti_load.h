/* Finding libcupti late, by soname, and binding what we use of it. */
#ifndef INJECT_CUPTI_LOAD_H
#define INJECT_CUPTI_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/cupti_abi.h"

/* The library's functions; a test hands over its own. */
struct cupti {
#define CUPTI_FN(needed, name, params) int (*name) params;
#include "inject/cupti_api.def"
#undef CUPTI_FN
};

/*
 * The libcupti that this process has or would load, opened for ever: already loaded, --cupti-lib, the Python environment's, next to
 * the CUDA libraries, $CONDA_PREFIX, $CUDA_HOME, /usr/local/cuda, the loader's own search.  NULL: there is none (counted, with the
 * package to install).  driver: CUDA version of the driver, 13000 for 13.0; 0: not known.
 */
void *cupti_find(uint32_t driver);

/* The libcupti that is loaded already; NULL: none. */
void *cupti_loaded(void);

/* 0, or -1 when a needed function is missing (counted). */
int cupti_bind(struct cupti *c, void *lib);

/* Path of the object that holds the bound functions. */
const char *cupti_path(const struct cupti *c);

/* CUDA version that the loaded driver supports, 13000 for 13.0; 0: not known. */
uint32_t cupti_driver_version(void);

/* Is the loaded driver that of test/sim? */
bool cupti_driver_simulated(void);

/* Major version of the CUDA runtime that is loaded; 0: none (or linked in). */
uint32_t cupti_runtime_major(void);

#endif
