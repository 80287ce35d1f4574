/*
 * Automatic steps (--step=auto): finds the steps of a program that marks none, from the sequence of its launches.  Each launch goes to the
 * period detector (trace/rules/period.h), which reports a step when the step is complete.  For the schedule, the next step begins one period of
 * launches after the begin of the reported step; step rows have the detector's bounds.
 */
#ifndef INJECT_CAPTURE_AUTO_STEPS_H
#define INJECT_CAPTURE_AUTO_STEPS_H

#include "inject/core/stream.h"
#include "inject/cupti/cupti_abi.h"

/*
 * Call as a kernel launch, graph launch (graph), memory set or copy (copy) begins, on its thread, between stream_enter() and
 * stream_leave().  Any thread; takes a lock.  May open or close a window.
 */
void auto_steps_launch(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, bool graph, bool copy);

/* Call when a call that waited for the GPU has returned, between stream_enter() and stream_leave().  Any thread. */
void auto_steps_waited(void);

#endif
