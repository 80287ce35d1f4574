/*
 * Windows of a program that trains in which no optimizer has stepped: health tells of them, for their rows are no picture of a step.  Windows that the program
 * itself bounds, by ranges or cudaProfilerStart, are what it asked for, and are not told of.
 */
#ifndef INJECT_UNSTEPPED_H
#define INJECT_UNSTEPPED_H

#include <stdbool.h>
#include <stdint.h>

/* A process begins anew. */
void unstepped_clear(void);

/* PyTorch announced something of training; stepped: the end of an Optimizer.step.  From any thread. */
void unstepped_trains(bool stepped);

/* Under the lock of windows.c.  judged: of such a window; of others nothing is told. */
void unstepped_opened(bool judged);
void unstepped_closed(uint32_t window);

/* The process ends, and a schedule waited for steps of an optimizer until then. */
void unstepped_waited(void);

#endif
