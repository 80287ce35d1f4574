/* A thread of ours that asks CUPTI for what it holds back: once a second, and when somebody waits for it. */
#ifndef INJECT_CUPTI_FLUSH_H
#define INJECT_CUPTI_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

#define FLUSH_WAIT_MS 2000      /* the longest that the program waits for CUPTI; after once in vain it never waits again */

/* Starts the thread; once, again only in a child that starts afresh. */
void cupti_flush_start(void);

/*
 * Everything complete is delivered when this returns; with FLUSH_FORCED what is not complete too (and then never again).  True when that
 * was done; false when there is no thread, or it did not end in time (counted; then nobody waits again).
 */
bool cupti_flush_wait(uint32_t flag);

/* Is there anything that a flush could deliver? */
bool cupti_flush_needed(void);

/* In a forked child: the thread is the parent's. */
void cupti_flush_forget(void);

#endif
