/*
 * Records of the client (cupti_client.h) that arrive with the final flush, at the process's end.  None of the client's functions may be
 * called then, since the client may be unloaded.  So the records are stored here, and delivered if the client itself flushes.
 */
#ifndef INJECT_CLIENT_CUPTI_LATE_H
#define INJECT_CLIENT_CUPTI_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stores a copy of a record.  False: more than 64 MiB since the process began, or no memory.  Any thread; takes no lock. */
bool cupti_late_keep(const uint8_t *record, size_t size);

/* Passes all stored records to give(), each thread's in order, and forgets them.  Any thread; takes no lock. */
void cupti_late_give(void (*give)(void *arg, const uint8_t *record, size_t size), void *arg);

/* In a forked child. */
void cupti_late_forget(void);

#endif
