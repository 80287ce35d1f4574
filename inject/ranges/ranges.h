/*
 * Open ranges: push/pop ranges per thread (one stack for all domains), start/end ranges per process.  They are stored in the arena's
 * header, where the collector finds them after a kill; a row is written when a range ends.  `s` is the calling thread's stream, entered,
 * with no row reserved.
 */
#ifndef INJECT_RANGES_RANGES_H
#define INJECT_RANGES_RANGES_H

#include "inject/core/stream.h"

/* Attributes of a range, without its place and time. */
struct range_what {
	uint64_t payload;
	uint32_t name, domain, category, color, payload_type;
	uint32_t watched;               /* WATCHED_ bits of its name (watch.h) */
};

/* Pushes a range.  Returns its depth in its domain, from 0; -2 (NVTX's code) when it is not tracked (counted). */
int ranges_push(struct stream *s, const struct range_what *what);

/* Ends the innermost range of the domain.  Returns the depth it had; -2 if there is none (counted). */
int ranges_pop(struct stream *s, uint32_t domain);

/*
 * Push/pop ranges that end in any order, for callers that know the id.  ranges_begin() returns the new range, valid until the next call, or
 * NULL when it is not tracked (counted).  ranges_finish() ends it on its own thread; ranges_forget() removes it without a row.
 * ranges_ended_elsewhere() writes the row of a copy of a range that another thread ended.
 */
const struct open_range *ranges_begin(struct stream *s, const struct range_what *what);
void ranges_finish(struct stream *s, uint64_t id);
void ranges_forget(struct stream *s, uint64_t id);
void ranges_ended_elsewhere(struct stream *s, const struct open_range *range);

/*
 * Start and end a start/end range; any thread may end it.  The handle is 0 when there is no slot (counted); ranges_end() ignores 0, and
 * counts an unknown handle.
 */
uint64_t ranges_start(struct stream *s, const struct range_what *what);
void ranges_end(struct stream *s, uint64_t handle);

/* Return the id of the range that ranges_pop() in this domain, or ranges_end() of this handle, would end; 0: none. */
uint64_t ranges_innermost(const struct stream *s, uint32_t domain);
uint64_t ranges_started(uint64_t handle);

/* At the thread's end: writes its open push/pop ranges as incomplete rows. */
void ranges_abandon(struct stream *s);

#endif
