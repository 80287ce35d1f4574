/*
 * --cupti=yield: while the client (cupti_client.h) has an activity kind enabled, it gets all of CUPTI's activity records.  The tracer's
 * kinds are disabled; the client's buffers go to CUPTI and come back to the client, their times converted to the client's clock.  API
 * calls are still recorded: callbacks go to both.  With --cupti=share this happens in sessions that cannot be shared.
 *
 * Before this, CUPTI is flushed by force, so that no record of the tracer arrives in a buffer of the client; work that is running on the
 * GPU loses its times.  Afterwards the tracer's kinds are enabled again when the client's last buffer is back, by the client's flush or
 * the flush thread's.
 */
#ifndef INJECT_CLIENT_CUPTI_YIELD_H
#define INJECT_CLIENT_CUPTI_YIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True while activity is the client's, or has not returned to the tracer. */
bool cupti_yield_holds(void);

/* The client is about to enable its first kind.  With the client's gate held. */
void cupti_yield_begin(void);

/* Notes for health the kind that cannot be shared. */
void cupti_yield_because(int kind);

/*
 * The client has no kind enabled: returns activity to the tracer, unless CUPTI still has buffers of the client.  With the client's gate
 * held.
 */
void cupti_yield_end(void);

/*
 * cupti_yield_returning(): the client has no kind enabled, but activity has not returned.  Then the flush thread calls cupti_yield_flush()
 * from time to time, to get the last buffers back.
 */
bool cupti_yield_returning(void);
void cupti_yield_flush(void);

/* CUPTI's buffer callbacks, for the client's buffers: passed to the client's functions.  Any thread. */
void cupti_yield_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_yield_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* In a forked child, or after the client finalised CUPTI. */
void cupti_yield_forget(void);

#endif
