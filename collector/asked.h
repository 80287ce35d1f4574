/* What was asked for by name and never came: capture ranges, steps.  Said once, when the session ends. */
#ifndef COLLECTOR_ASKED_H
#define COLLECTOR_ASKED_H

#include <stdint.h>

struct guest;
struct session;
struct tree;

/* Of the processes that are gone. */
struct asked {
	uint32_t seen;                  /* bits of arena.names_seen */
	uint64_t windows;               /* opened */
	char other[100];                /* NVTX names that were not asked for */
};

/* A guest goes. */
void asked_note(struct asked *a, const struct guest *g);

/* The session ends. */
void asked_report(struct session *s);

#endif
