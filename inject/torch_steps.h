/* --step torch: steps by what PyTorch tells, fed to whoever decides when rows are kept (windows.h). */
#ifndef INJECT_TORCH_STEPS_H
#define INJECT_TORCH_STEPS_H

#include "inject/stream.h"
#include "trace/torchsteps.h"

/* What a range is to steps when it begins, or has ended. */
enum torchsteps_event torch_steps_event_of(unsigned scope, const char *name, bool begins);

/* Of a range that is about to begin, or has just ended: may open or close a window. */
void torch_steps_event(struct stream *s, enum torchsteps_event event);

/* The process ends cleanly: the step that was to come is none. */
void torch_steps_stop(void);

#endif
