/* Full activity buffers -> rows. */
#ifndef INJECT_CUPTI_ACTIVITY_H
#define INJECT_CUPTI_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Nothing is recorded for now: the kinds that cost the program something are switched off, or not on yet.  Devices, contexts and streams,
 * which are told once, are not among them.  Not where CUPTI is known to mind (versions in cupti.c).
 */
void cupti_activity_sleep(void);
void cupti_activity_wake(void);
bool cupti_activity_sleeps(void);

/* Enables the kinds we read; one that is refused is counted and left out. */
void cupti_activity_enable(void);

/* One more, now or when they go on again; what CUPTI answers. */
int cupti_activity_switch_on(int kind);

/* The same; false: refused, and counted. */
bool cupti_activity_ask(int kind, const char *name);

/* Did we enable this kind?  It stays so while they pause. */
bool cupti_activity_asked(uint32_t kind);

/* ... and it does not sleep. */
bool cupti_activity_holds(uint32_t kind);

/* All of them off, and on again; the first time, too. */
void cupti_activity_pause(void);
void cupti_activity_resume(void);

/* In a forked child: CUPTI is not ours, and has no kind on. */
void cupti_activity_forget(void);

/* Must this kind's rows come from elsewhere now? */
bool cupti_activity_lacks(uint32_t kind);

/* CUPTI wants an empty buffer; any thread. */
void cupti_activity_request(uint8_t **buffer, size_t *size, size_t *max_records);

/* CUPTI gives a buffer back; any thread. */
void cupti_activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Counts what CUPTI says it dropped since the last time; the number. */
uint64_t cupti_activity_dropped(void);

#endif
