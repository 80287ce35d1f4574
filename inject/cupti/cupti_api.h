/* API calls of the program -> rows, one for each outermost call.  The tracer's callbacks for domains DOMAIN_RUNTIME and DOMAIN_DRIVER. */
#ifndef INJECT_CUPTI_CUPTI_API_H
#define INJECT_CUPTI_CUPTI_API_H

#include <stdbool.h>
#include <stdint.h>

struct cupti_call_data;

/* Enables the callbacks of cupti_calls.def.  Once, as the tracer starts. */
void cupti_api_enable(void);

/* Entry or exit of an API call, on the thread that makes it.  Keeps errno. */
void cupti_api_call(int domain, uint32_t cbid, const struct cupti_call_data *data);

/* True while this thread is inside a call that makes a graph from another: instantiate, clone or update. */
bool cupti_api_clones(void);

/* In a forked child: forgets string ids and primary contexts. */
void cupti_api_forget(void);

#endif
