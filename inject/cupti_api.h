/* API calls of the program -> rows, one for each outermost call. */
#ifndef INJECT_CUPTI_API_H
#define INJECT_CUPTI_API_H

#include <stdint.h>

struct cupti_call_data;

/* Asks CUPTI for the callbacks of cupti_calls.def. */
void cupti_api_enable(void);

/* A callback of domain DOMAIN_RUNTIME or DOMAIN_DRIVER. */
void cupti_api_call(int domain, uint32_t cbid, const struct cupti_call_data *data);

/* Forgets ids of names. */
void cupti_api_forget(void);

#endif
