/*
 * Slots in the arena for steps and windows: open ones, and ended ones that wait for the next CUDA call's correlation id; and writing their
 * rows.  Callers hold the lock of windows.c; `s` may be NULL where rows are written: the row is then lost.
 */
#ifndef INJECT_CAPTURE_OPEN_SLOTS_H
#define INJECT_CAPTURE_OPEN_SLOTS_H

#include "inject/core/stream.h"

/*
 * Stores corr, the id of the first call since the last boundaries, in the slots that wait for it.  Writes the rows that are now complete.
 */
void open_slots_call(struct stream *s, uint32_t corr);

/* True if a slot waits for a call. */
bool open_slots_edge(void);

/*
 * Return a free slot for a step or window.  If none is free, an ended one is written early and reused, preferring one without first_corr: a
 * row with first_corr but no end_corr would claim all later calls.  NULL (counted) when all steps are running.
 */
struct open_step *open_slots_step(struct stream *s);
struct open_window *open_slots_window(struct stream *s);

/* Returns the step of the same kind that ended where this one started, NULL if its row is already written. */
struct open_step *open_slots_step_before(const struct open_step *o);

/* Writes the step's row and frees its slot. */
void open_slots_write_step(struct stream *s, struct open_step *o);

#endif
