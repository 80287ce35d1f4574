/* --step torch: derives steps from PyTorch's ranges, and reports them to windows.h. */
#ifndef INJECT_TORCH_TORCH_STEPS_H
#define INJECT_TORCH_TORCH_STEPS_H

#include "inject/core/stream.h"
#include "trace/rules/torchsteps.h"

/* Returns what the start (begins) or the end of a range means for steps. */
enum torchsteps_event torch_steps_event_of(unsigned scope, const char *name, bool begins);

/* Handles the event of a range that is about to begin or has just ended; may open or close a window.  Inside stream_enter(). */
void torch_steps_event(struct stream *s, enum torchsteps_event event);

/* Call at a clean process end: discards the open step, which has no end. */
void torch_steps_stop(void);

#endif
