/*
 * --cupti=yield: while the program's own profiler has an activity kind enabled, CUPTI's activity is its alone.  Our
 * kinds are off, its buffers go to CUPTI and come back to it unread.  API calls go on being recorded: callbacks serve
 * both.
 *
 * Before it, CUPTI is flushed by force, so that no record of ours arrives in a buffer of its; what the GPU works on at
 * that moment loses its times.  After it, ours come back only when its last buffer has: by its own flush, else by ours.
 */
#ifndef INJECT_CUPTI_YIELD_H
#define INJECT_CUPTI_YIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is activity its, or not yet ours again? */
bool cupti_yield_holds(void);

/* It is about to enable its first kind.  With the client's gate held. */
void cupti_yield_begin(void);

/* It has none enabled any more: ours again, unless buffers of its are with CUPTI.  With the client's gate held. */
void cupti_yield_end(void);

/* Its last buffers are asked for every now and then: by our thread for flushing. */
bool cupti_yield_returning(void);
void cupti_yield_flush(void);

/* CUPTI asks for a buffer while it holds activity; gives back one that is not ours. */
void cupti_yield_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_yield_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Its clock is CUPTI's while it holds activity; what CUPTI answers. */
int cupti_yield_clock(void);

void cupti_yield_forget(void);

#endif
