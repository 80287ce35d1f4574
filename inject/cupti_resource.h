/* What CUPTI tells besides API calls: the driver is up, contexts and streams come to be, CUPTI itself is in trouble. */
#ifndef INJECT_CUPTI_RESOURCE_H
#define INJECT_CUPTI_RESOURCE_H

#include <stdint.h>

struct cupti_resource_data;
struct cupti_state_data;

void cupti_resource_enable(void);
void cupti_resource_event(uint32_t cbid, const struct cupti_resource_data *data);
void cupti_state_event(uint32_t cbid, const struct cupti_state_data *data);

#endif
