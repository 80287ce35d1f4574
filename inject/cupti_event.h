/* CUDA events as the program uses them: what it records, what waits for them, and what it is told about the time between two. */
#ifndef INJECT_CUPTI_EVENT_H
#define INJECT_CUPTI_EVENT_H

#include "inject/cupti_abi.h"
#include "inject/stream.h"

/* Calls that succeeded, between stream_enter() and stream_leave(); start: when the call began. */
void cupti_event_recorded(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, int64_t start);
void cupti_event_ordered(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, int64_t start);
void cupti_event_awaited(struct stream *s, const struct cupti_call_data *d, int64_t start);
void cupti_event_elapsed(struct stream *s, const struct cupti_call_data *d, int64_t start);

#endif
