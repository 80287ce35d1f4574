/*
 * The clock of the program's own profiler.  With cuptiActivityRegisterTimestampCallback() it asks for records in the
 * time of a function of its own (libkineto: the processor's time-stamp counter).  CUPTI keeps its own clock for us, and
 * the copies are converted: between two readings of both clocks, linearly.
 */
#ifndef INJECT_CUPTI_CLOCK_H
#define INJECT_CUPTI_CLOCK_H

#include <stdint.h>

/* From now on times are those of this function; NULL: CUPTI's own. */
void cupti_clock_set(uint64_t (*clock)(void));

uint64_t (*cupti_clock_get(void))(void);

/* Reads both clocks, if the last time is a while ago. */
void cupti_clock_read(void);

/* A reading, as cupti_clock_read() keeps it; for tests too. */
void cupti_clock_put(int64_t realtime, uint64_t theirs);

/* CUPTI's time in theirs.  0 stays 0: "no time". */
uint64_t cupti_clock_convert(uint64_t realtime);

#endif
