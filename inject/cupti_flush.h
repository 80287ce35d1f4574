/* A thread of ours that asks CUPTI for what it holds back: once a second, and when somebody waits for it. */
#ifndef INJECT_CUPTI_FLUSH_H
#define INJECT_CUPTI_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

#define FLUSH_WAIT_MS 2000      /* the longest that the program waits for CUPTI; after once in vain it never waits again */

#define FLUSH_WINDOW_MS 500     /* and at the end of a window of recording, in the middle of the program; likewise */

/* Starts the thread; once, again only in a child that starts afresh. */
void cupti_flush_start(void);

/*
 * Everything complete is delivered when this returns; with FLUSH_FORCED what is not complete too (and then never again).  True when that
 * was done; false when there is no thread, or it did not end in time (counted; then nobody waits again).
 */
bool cupti_flush_wait(uint32_t flag);

/*
 * A window of recording has ended (its API rows are written): fetches what CUPTI has complete.  From any thread, from callbacks about API
 * calls too, for the thread of ours does it; that one may call it as well.  True when it was done; false when there is no thread, or it
 * was not done in time (counted; what CUPTI has still comes, with a later flush).
 *
 * Never a forced flush: that would deliver work which still runs without its end, and never again.  Left to run, it comes with a later
 * flush, and belongs to the window by its start.  Forced is the last flush of the process alone, after which nothing could come.
 */
bool cupti_flush_window(void);

/* Asks for a flush out of turn and waits for nothing; any thread, lock-free. */
void cupti_flush_soon(void);

/* Rows are wanted: CUPTI is woken, by the thread of ours if there is one, and waited for, FLUSH_WINDOW_MS at most. */
void cupti_flush_wake(void);

/* Is there anything that a flush could deliver? */
bool cupti_flush_needed(void);

/* In a forked child: the thread is the parent's. */
void cupti_flush_forget(void);

#endif
