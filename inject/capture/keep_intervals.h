/*
 * Intervals in which CUDA rows were kept.  Whether a GPU row is kept depends on the call that launched it, not on when it arrives.
 * Written under the lock of windows.c, read without a lock.
 */
#ifndef INJECT_CAPTURE_KEEP_INTERVALS_H
#define INJECT_CAPTURE_KEEP_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * keep_intervals_begin(): an interval begins at `real` (REALTIME ns), or at the process's start if whole.
 * keep_intervals_end(): the latest interval ends.
 */
void keep_intervals_begin(int64_t real, bool whole);
void keep_intervals_end(int64_t real);

/* Call for each CUDA call that may be the first since a boundary: stores corr as that boundary's id. */
void keep_intervals_call(uint32_t corr);

/* OPEN_FIRST, OPEN_END: an interval still awaits the first call after its begin, or after its end. */
uint32_t keep_intervals_edges(void);

/* Forgets all intervals: in a forked child. */
void keep_intervals_clear(void);

/* True if a GPU row is to be kept.  corr: correlation id of its call, 0: none; real: its start in REALTIME ns, 0: none.  Any thread. */
bool windows_keep(uint32_t corr, int64_t real);

/*
 * For anything that has OPEN_ bits: stores corr as first or end id, whichever the state awaits; returns the new state.  What ended without
 * any call gets neither id.
 */
uint32_t open_set_corr(uint32_t state, uint32_t corr, uint32_t *first, uint32_t *end);

#endif
