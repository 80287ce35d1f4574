/* The doorbell: a word in shared memory that guests ring; a small thread turns it into a readable descriptor. */
#ifndef COLLECTOR_BELL_H
#define COLLECTOR_BELL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/wire.h"

struct bell_watch {
	struct bell *bell;              /* NULL: not there */
	int memory;                     /* the page's descriptor, for guests */
	int event;                      /* readable when it rang */
	bool running, stop;
	pthread_t thread;
};

#define BELL_INIT { .memory = -1, .event = -1 }

/* 0 or -1. */
int bell_start(struct bell_watch *w, const char *folder);
void bell_stop(struct bell_watch *w);

/* Takes note of what rang so far. */
void bell_heard(struct bell_watch *w);

#endif
