/*
 * Enables activity kinds for the tracer and turns full activity buffers into rows.  cupti_activity_sleep(), _wake(), _enable(), _pause()
 * and _resume(): with the client's gate held (cupti_client_lock()).
 */
#ifndef INJECT_CUPTI_CUPTI_ACTIVITY_H
#define INJECT_CUPTI_CUPTI_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * While nothing is recorded, the tracer's kinds sleep: they are disabled, or not enabled yet, to save their cost.  Devices, contexts and
 * streams are reported once and stay enabled.  Not for versions where tracer_keeps_kinds().
 */
void cupti_activity_sleep(void);
void cupti_activity_wake(void);
bool cupti_activity_sleeps(void);

/* Enables the kinds that become rows; a refused kind is left out and reported in health. */
void cupti_activity_enable(void);

/* Enables one more kind, now or when kinds are resumed or woken.  Returns CUPTI's result. */
int cupti_activity_switch_on(int kind);

/* As cupti_activity_switch_on(); false: refused, and reported in health. */
bool cupti_activity_ask(int kind, const char *name);

/* True if this kind is enabled for the tracer, also while it is paused or asleep. */
bool cupti_activity_asked(uint32_t kind);

/* ... and not asleep. */
bool cupti_activity_holds(uint32_t kind);

/* Disables all of the tracer's kinds; enables them again, or for the first time. */
void cupti_activity_pause(void);
void cupti_activity_resume(void);

/* In a forked child: no kind is enabled. */
void cupti_activity_forget(void);

/* True if the tracer receives no records of this kind now. */
bool cupti_activity_lacks(uint32_t kind);

/* CUPTI's callback for an empty buffer; any thread. */
void cupti_activity_request(uint8_t **buffer, size_t *size, size_t *max_records);

/* CUPTI's callback for a full buffer, which it returns; any thread.  Keeps errno. */
void cupti_activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Adds the records that CUPTI dropped since the last call to health; returns their number. */
uint64_t cupti_activity_dropped(void);

#endif
