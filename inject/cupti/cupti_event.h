/* CUDA events as the program uses them -> rows: records, waits, and elapsed times that it queried. */
#ifndef INJECT_CUPTI_CUPTI_EVENT_H
#define INJECT_CUPTI_CUPTI_EVENT_H

#include "inject/core/stream.h"
#include "inject/cupti/cupti_abi.h"

/* After a call that succeeded, on its thread, between stream_enter() and stream_leave().  start: begin of the call, clock_now(). */
void cupti_event_recorded(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, int64_t start);
void cupti_event_ordered(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, int64_t start);
void cupti_event_awaited(struct stream *s, const struct cupti_call_data *d, int64_t start);
void cupti_event_elapsed(struct stream *s, const struct cupti_call_data *d, int64_t start);

#endif
