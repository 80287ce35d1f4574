/* The doorbell: guests increment a word in shared memory; a thread turns this into a readable descriptor. */
#ifndef COLLECTOR_BELL_H
#define COLLECTOR_BELL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/wire.h"

struct bell_watch {
	struct bell *bell;              /* NULL: not started */
	int memory;                     /* descriptor of the page, for guests */
	int event;                      /* eventfd, readable after a ring */
	bool running, stop;
	pthread_t thread;
};

#define BELL_INIT { .memory = -1, .event = -1 }

/* Returns 0, or -1 after fail().  In both cases bell_stop() releases everything. */
int bell_start(struct bell_watch *w, const char *folder);
void bell_stop(struct bell_watch *w);

/* Clears the event.  Call before taking the blocks of the arenas. */
void bell_heard(struct bell_watch *w);

#endif
