/* Tells whether a process still runs: by its pidfd; where the kernel has none or refuses it, by polling /proc. */
#ifndef COLLECTOR_ALIVE_H
#define COLLECTOR_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

struct alive {
	int pidfd;                      /* -1: none, /proc is polled */
	uint32_t pid;                   /* 0: not watched */
	uint64_t born;                  /* without a pidfd: start time in ticks since boot, which differs if the pid was reused */
};

#define ALIVE_INIT { .pidfd = -1 }

/* Starts to watch a process.  With a pidfd, `epoll` reports `tag` when the process ends.  Returns 0; -1: there is no such process. */
int alive_watch(struct alive *a, uint32_t pid, int epoll, uint64_t tag);

/* True if the process runs; false if it is not watched. */
bool alive_is(const struct alive *a);

/* True if no event will report the process's end: call alive_is() from time to time. */
bool alive_needs_polling(const struct alive *a);

/* Stops to watch; closes the pidfd. */
void alive_release(struct alive *a);

#endif
