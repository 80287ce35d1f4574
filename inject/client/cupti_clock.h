/*
 * The client's clock.  With cuptiActivityRegisterTimestampCallback() the client (cupti_client.h) asks for records in the time of one of
 * its functions (libkineto: the processor's time-stamp counter).  CUPTI never gets that function: with one, kernels have no times from
 * 12.6 U2 until before 13.1, registering it again damages times, and it cannot be unregistered.  Instead the times in the client's records
 * are converted, linearly between two readings of both clocks.  Any thread.
 */
#ifndef INJECT_CLIENT_CUPTI_CLOCK_H
#define INJECT_CLIENT_CUPTI_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Sets the client's clock function; NULL: times stay CUPTI's. */
void cupti_clock_set(uint64_t (*clock)(void));

/* The client's clock function, or NULL. */
uint64_t (*cupti_clock_get(void))(void);

/* Reads both clocks, unless the last reading is less than 1 ms old.  Calls the client's function. */
void cupti_clock_read(void);

/* Stores a reading of both clocks; for cupti_clock_read() and tests. */
void cupti_clock_put(int64_t realtime, uint64_t theirs);

/* Converts CUPTI's time (REALTIME ns) to the client's clock.  0 ("no time") stays 0. */
uint64_t cupti_clock_convert(uint64_t realtime);

/* Converts the times of one record in place.  size: bytes to the next record. */
void cupti_clock_stamp(uint8_t *record, size_t size);

#endif
