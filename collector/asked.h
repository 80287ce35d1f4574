/* Capture ranges and steps that were asked for by name but never came.  Reported once, when the session ends. */
#ifndef COLLECTOR_ASKED_H
#define COLLECTOR_ASKED_H

#include <stdint.h>

struct guest;
struct session;
struct tree;

/* Sums over the processes that have ended. */
struct asked {
	uint32_t seen;                  /* bits of arena.names_seen */
	uint64_t windows;               /* opened */
	char other[100];                /* NVTX names that nothing asked for */
};

/* Call when a guest ends. */
void asked_note(struct asked *a, const struct guest *g);

/* Call when the session ends: counts what never came. */
void asked_report(struct session *s);

#endif
