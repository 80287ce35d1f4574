/* Is a process still there?  By pidfd; where the kernel has none or refuses, by looking at /proc now and then. */
#ifndef COLLECTOR_ALIVE_H
#define COLLECTOR_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

struct alive {
	int pidfd;                      /* -1: none; then /proc is asked */
	uint32_t pid;                   /* 0: not watched */
	uint64_t born;                  /* start time in ticks since boot, to know a reused pid */
};

#define ALIVE_INIT { .pidfd = -1 }

/*
 * Starts to watch; with a pidfd, `tag` is reported by `epoll` when the process ends.  0, or -1: there is no such
 * process.
 */
int alive_watch(struct alive *a, uint32_t pid, int epoll, uint64_t tag);

/* False for one that is not watched. */
bool alive_is(const struct alive *a);

/* True: nobody will tell when it ends, so ask. */
bool alive_needs_polling(const struct alive *a);

void alive_release(struct alive *a);

#endif
