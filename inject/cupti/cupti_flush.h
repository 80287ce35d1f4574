/* The flush thread: fetches the records that CUPTI holds, once a second (config.flush_ms) and on request. */
#ifndef INJECT_CUPTI_CUPTI_FLUSH_H
#define INJECT_CUPTI_CUPTI_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

#define FLUSH_WAIT_MS 2000      /* longest wait of the program for CUPTI; after one timeout it never waits again */

#define FLUSH_WINDOW_MS 500     /* longest wait at the end of a window; likewise after one timeout */

/* Starts the flush thread, once per process.  Any thread; keeps errno. */
void cupti_flush_start(void);

/*
 * Flushes, and waits for at most FLUSH_WAIT_MS.  True: all complete records were delivered; with FLUSH_FORCED also incomplete ones, whose
 * ends are then lost.  False: there is no thread, or it did not finish in time (counted; later calls do not wait).  Any thread; keeps
 * errno.
 */
bool cupti_flush_wait(uint32_t flag);

/*
 * At the end of a window, after its API rows: fetches the records that CUPTI has complete, waiting for at most FLUSH_WINDOW_MS.  Any
 * thread, also in API callbacks, since the flush thread does it, and on the flush thread itself.  False: there is no thread, or it was not
 * done in time (counted; a later flush delivers the records).  Keeps errno.
 *
 * Never a forced flush: that would deliver running work without its end.  Running work is delivered by a later flush, and belongs to the
 * window by its launch.  Only the process's final flush is forced.
 */
bool cupti_flush_window(void);

/*
 * Requests an early flush without waiting.  Any thread, lock-free.  SOON: at least 20 ms after the previous flush.  NOW, when rows are
 * being lost: 2 ms.
 */
enum flush_hurry { FLUSH_SOON = 1, FLUSH_NOW };
void cupti_flush_hurry(enum flush_hurry hurry);

/*
 * Enables the kinds that sleep, on the flush thread if there is one, and waits for at most FLUSH_WINDOW_MS.  Before the first context
 * nothing is enabled, since cuInit() may be running; the first call after it waits instead.  Keeps errno.
 */
void cupti_flush_wake(void);

/* True if a flush could deliver anything. */
bool cupti_flush_needed(void);

/*
 * Before the program installs a seccomp filter that would apply to the flush thread and kill it: flushes and ends the thread, within 1.5
 * s.
 */
void cupti_flush_end(void);

/* In a forked child, which has no flush thread. */
void cupti_flush_forget(void);

#endif
