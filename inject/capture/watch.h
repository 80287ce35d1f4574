/* NVTX ranges and marks that control recording, by name: the range of --nvtx-capture, steps of --step, ranges of --nvtx-backtrace. */
#ifndef INJECT_CAPTURE_WATCH_H
#define INJECT_CAPTURE_WATCH_H

#include "inject/capture/capture.h"
#include "inject/core/stream.h"

#define WATCHED_CAPTURE 0x80000000u     /* the capture range */
#define WATCHED_STACK   0x40000000u     /* --nvtx-backtrace: capture the stack at its start.  The low bits are kinds of steps */

/* What marks the steps of a kind. */
enum step_source { STEPS_NVTX, STEPS_PROFILER, STEPS_AUTO, STEPS_TORCH };

struct watched_kind {
	enum step_source source;
	uint32_t name;                  /* string id of the kind; 0: it has no name */
};

/* Reads the settings of this process; returns the number of kinds of steps.  *any false: no name has to be looked up. */
unsigned watch_init(struct stream *s, struct watched_kind kinds[CAPTURE_KINDS], bool *any);

/*
 * Returns the WATCHED_ bits of a name, and 1 << i if it matches kind i of steps.  id: its string id; domain: an NVTX handle.  Names that
 * match nothing are listed in the arena, to explain why nothing was recorded.
 */
uint32_t watch_name(uint32_t id, const char *text, size_t n, const void *domain);

#endif
