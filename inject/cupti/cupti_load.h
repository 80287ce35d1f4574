/* Finds libcupti at run time, by soname, and binds the functions that are used.  On the thread that starts the tracer. */
#ifndef INJECT_CUPTI_CUPTI_LOAD_H
#define INJECT_CUPTI_CUPTI_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/cupti/cupti_abi.h"

/* The library's functions; tests fill in their own. */
struct cupti {
#define CUPTI_FN(needed, name, params) int (*name) params;
#include "inject/cupti/cupti_api.def"
#undef CUPTI_FN
};

/*
 * The libcupti that this process has loaded or would load; never closed.  Order: already loaded, --cupti-lib, the Python environment's
 * copy, next to the CUDA libraries, $CONDA_PREFIX, $CUDA_HOME, /usr/local/cuda, the loader's search.  NULL: none (reported in health, with
 * the package to install).  driver: CUDA version of the driver, 13000 for 13.0; 0: unknown.
 */
void *cupti_find(uint32_t driver);

/* The libcupti that is loaded already; NULL: none. */
void *cupti_loaded(void);

/* Fills in the functions of lib; optional ones that are missing are NULL.  0, or -1 if a needed one is missing (reported in health). */
int cupti_bind(struct cupti *c, void *lib);

/*
 * True if this library answers cuptiGetVersion, -GetResultString, -GetCallbackName and -GetTimestamp only when the driver is initialised:
 * from 13.2 on, recognised by a function that 13.2 added.
 */
bool cupti_needs_driver(void *lib);
#define FIRST_DISPATCHED_VERSION 130200u

/*
 * True for libcupti 13.2 with a driver before CUDA 13.0: it recurses endlessly when the driver does not answer.  driver 0, unknown: false.
 */
bool cupti_crashes(void *lib, uint32_t driver);

/* Path of the object that holds the bound functions. */
const char *cupti_path(const struct cupti *c);

/* CUDA version that the loaded driver supports, 13000 for 13.0; 0: unknown. */
uint32_t cupti_driver_version(void);

/* True if the loaded driver is the simulated one of test/sim. */
bool cupti_driver_simulated(void);

/* Major version of the loaded CUDA runtime library; 0: none, or linked statically. */
uint32_t cupti_runtime_major(void);

#endif
