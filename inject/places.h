/* The arena's places for steps and windows that are open, or wait for the first call behind a boundary; and their rows.  Under the lock of windows.c. */
#ifndef INJECT_PLACES_H
#define INJECT_PLACES_H

#include "inject/stream.h"

/* The first call behind the boundaries that wait for one: what is complete becomes a row. */
void places_call(struct stream *s, uint32_t corr);

/* Does any wait for a call? */
bool places_edge(void);

/*
 * A place for an open step or window; one that has ended and only waits for a call to come gives way, best one that had none: of the others
 * the row would say that all later calls are its.  NULL: all steps run; counted.
 */
struct open_step *places_step(struct stream *s);
struct open_window *places_window(struct stream *s);

/* The one of its kind that ended where this one began, if its row is not written yet. */
struct open_step *places_step_before(const struct open_step *o);

/* Its row; the place is free again. */
void places_write_step(struct stream *s, struct open_step *o);

#endif
