/*
 * Counts the holders of each device's primary context, since the driver does not tell their number.  The last release destroys the context
 * and the records that CUPTI has not delivered, so CUPTI is flushed before it.  Other releases need no flush, and libraries (UCX,
 * TensorRT, NCCL plugins) retain and release around each of their calls.  Any thread, no lock.
 */
#ifndef INJECT_CUPTI_CUPTI_PRIMARY_H
#define INJECT_CUPTI_CUPTI_PRIMARY_H

#include <stdbool.h>

#include "inject/cupti/cupti_abi.h"

/* After a call that succeeded, also one made by the CUDA runtime. */
void cupti_primary_retained(const struct cupti_retain_params *p);
void cupti_primary_released(const struct cupti_release_params *p);

/*
 * As a release begins: true if it may be the last, or if that is unknown.  False if an unseen holder is known; then an early flush is
 * requested.
 */
bool cupti_primary_ends(const struct cupti_release_params *p);

/* Resource callback: this context is being destroyed. */
void cupti_primary_destroyed(const void *context);

/* In a forked child, which has no contexts. */
void cupti_primary_forget(void);

#endif
