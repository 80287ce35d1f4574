/* Which NVTX ranges and marks mean something to us: the range of --nvtx-capture, the steps of --step, those of --nvtx-backtrace. */
#ifndef INJECT_WATCH_H
#define INJECT_WATCH_H

#include "inject/capture.h"
#include "inject/stream.h"

#define WATCHED_CAPTURE 0x80000000u     /* the capture range */
#define WATCHED_STACK   0x40000000u     /* --nvtx-backtrace: the stack of its begin is wanted; else a bit for each kind of step */

/* What marks the steps of a kind. */
enum step_source { STEPS_NVTX, STEPS_PROFILER, STEPS_AUTO, STEPS_TORCH };

struct watched_kind {
	enum step_source source;
	uint32_t name;                  /* string id of the kind; 0: it has none */
};

/* Reads the settings of this process; the number of kinds.  Not *any: no name needs to be looked at. */
unsigned watch_init(struct stream *s, struct watched_kind kinds[CAPTURE_KINDS], bool *any);

/* What a name in a domain (an NVTX handle) is; id: its string id.  Others are noted in the arena, for whoever asks why nothing was. */
uint32_t watch_name(uint32_t id, const char *text, size_t n, const void *domain);

#endif
