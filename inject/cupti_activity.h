/* Full activity buffers -> rows. */
#ifndef INJECT_CUPTI_ACTIVITY_H
#define INJECT_CUPTI_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

/* Enables the kinds we read; one that is refused is counted and left out. */
void cupti_activity_enable(void);

/* CUPTI gives a buffer back; any thread. */
void cupti_activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Counts what CUPTI says it dropped since the last time; the number. */
uint64_t cupti_activity_dropped(void);

#endif
