/*
 * Steps that nothing marks, found while the program runs: its launches go to the detector (trace/period.h), which tells a step when it
 * is complete.  For the schedule the next begins a period's launches behind it; rows have the bounds that the detector gives.
 */
#ifndef INJECT_AUTO_STEPS_H
#define INJECT_AUTO_STEPS_H

#include "inject/cupti_abi.h"
#include "inject/stream.h"

/* A launch, a graph's launch or a copy begins.  May open or close a window. */
void auto_steps_launch(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, bool graph, bool copy);

/* A call that waits for the GPU has ended. */
void auto_steps_waited(void);

#endif
