/*
 * Reports in health the windows of a training program in which no optimizer step ended: their rows do not show a training step.  Windows
 * that the program itself bounds, by ranges or cudaProfilerStart, are what it asked for, and are not reported.
 */
#ifndef INJECT_CAPTURE_UNSTEPPED_H
#define INJECT_CAPTURE_UNSTEPPED_H

#include <stdbool.h>
#include <stdint.h>

/* Resets everything, for a new process. */
void unstepped_clear(void);

/* Call at each training event of PyTorch; stepped: the end of an Optimizer.step.  Any thread. */
void unstepped_trains(bool stepped);

/* Call under the lock of windows.c when a window opens or closes.  judged: report it if no step ends in it.  window: its number. */
void unstepped_opened(bool judged);
void unstepped_closed(uint32_t window);

/* Call at process end if the schedule was still waiting for optimizer steps. */
void unstepped_waited(void);

#endif
