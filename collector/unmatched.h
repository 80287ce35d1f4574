/* Capture ranges and steps that were asked for by name but never came.  Reported once, when the session ends. */
#ifndef COLLECTOR_UNMATCHED_H
#define COLLECTOR_UNMATCHED_H

#include <stdint.h>

struct connected_guest;
struct session;
struct tree;

/* Sums over the processes that have ended. */
struct unmatched {
	uint32_t seen;                  /* bits of arena.names_seen */
	uint64_t windows;               /* opened */
	char other[100];                /* NVTX names that nothing asked for */
};

/* Call when a guest ends. */
void unmatched_note(struct unmatched *a, const struct connected_guest *g);

/* Call when the session ends: counts what never came. */
void unmatched_report(struct session *s);

#endif
