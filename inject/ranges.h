/*
 * Open ranges: push/pop per thread (any domain on one stack), start/end per process.  They live in the arena's header, so that the
 * collector finds them after a kill; a row is written when a range ends.
 */
#ifndef INJECT_RANGES_H
#define INJECT_RANGES_H

#include "inject/stream.h"

/* What a range is, besides where and when. */
struct range_what {
	uint64_t payload;
	uint32_t name, domain, category, color, payload_type;
	uint32_t watched;               /* what its name says to capture (watch.h) */
};

/* Depth of the new range in its domain, from 0; -2 when it is not tracked (NVTX's number for that). */
int ranges_push(struct stream *s, const struct range_what *what);

/* Ends the innermost range of the domain: the depth it had, or -2 without one (counted). */
int ranges_pop(struct stream *s, uint32_t domain);

/*
 * For who knows which range it ends: push/pop ranges in any order.  The new one, valid until the next call, or NULL when it is not tracked
 * (counted); its end on its own thread; taken away without a row; and its row, once another thread has ended it.
 */
const struct open_range *ranges_begin(struct stream *s, const struct range_what *what);
void ranges_finish(struct stream *s, uint64_t id);
void ranges_forget(struct stream *s, uint64_t id);
void ranges_ended_elsewhere(struct stream *s, const struct open_range *range);

/* A handle, or 0 when there is no place for it (counted). */
uint64_t ranges_start(struct stream *s, const struct range_what *what);
void ranges_end(struct stream *s, uint64_t handle);

/* Id of the range that a pop in this domain, or an end of this handle, would end; 0: none. */
uint64_t ranges_innermost(const struct stream *s, uint32_t domain);
uint64_t ranges_started(uint64_t handle);

/* The thread ends: its open push/pop ranges become incomplete rows. */
void ranges_abandon(struct stream *s);

#endif
