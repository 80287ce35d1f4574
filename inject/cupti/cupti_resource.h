/* CUPTI's callbacks besides API calls: the driver is initialised, contexts and streams are created, CUPTI reports an error. */
#ifndef INJECT_CUPTI_CUPTI_RESOURCE_H
#define INJECT_CUPTI_CUPTI_RESOURCE_H

#include <stdint.h>

struct cupti_resource_data;
struct cupti_state_data;

/* Enables the callbacks.  As the tracer starts. */
void cupti_resource_enable(void);
/* A callback of DOMAIN_RESOURCE, on the program's thread. */
void cupti_resource_event(uint32_t cbid, const struct cupti_resource_data *data);
/* Context id of a stream by its handle; 0: unknown (created before the tracer started, or forgotten). */
uint32_t cupti_resource_context_of(const void *stream);

/* A callback of DOMAIN_STATE: an error in CUPTI. */
void cupti_state_event(uint32_t cbid, const struct cupti_state_data *data);

#endif
