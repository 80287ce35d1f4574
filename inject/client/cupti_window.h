/*
 * Which activity records belong to the client (cupti_client.h): those of work that began while the client had the record's kind enabled.
 * CUPTI alone decides by the launch, so this does too, by correlation id: a record's time is that of the GPU, which may be much later.
 * Any thread; calls no other code.
 */
#ifndef INJECT_CLIENT_CUPTI_WINDOW_H
#define INJECT_CLIENT_CUPTI_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The client enabled or disabled a kind; now: REALTIME ns. */
void cupti_window_open(uint32_t kind, int64_t now);
void cupti_window_close(uint32_t kind, int64_t now);

/*
 * cupti_window_pending(): a window lacks its first or last correlation id.  Then call cupti_window_begun() with the id of the next API
 * call that begins.
 */
bool cupti_window_pending(void);
void cupti_window_begun(uint32_t corr);

/* True if the client has ever enabled a kind. */
bool cupti_window_any(void);

/* True if the record is the client's.  size: bytes to the next record. */
bool cupti_window_has(const uint8_t *record, size_t size);

/* In a forked child, or after the client finalised CUPTI. */
void cupti_window_forget(void);

/* Offsets of the times in a record of this kind that lie within `size` bytes; returns their number, at most CUPTI_TIMES. */
#define CUPTI_TIMES 5
size_t cupti_record_times(uint32_t kind, size_t size, unsigned offsets[CUPTI_TIMES]);

#endif
