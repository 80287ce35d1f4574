/*
 * A stretch of our code that the program's signals and cancellations wait for.  Connecting makes system calls that are cancellation
 * points, and a handler may leave by longjmp: either would end it half-way, inside NVTX's own initialisation, for which every thread waits.
 */
#ifndef INJECT_CALM_H
#define INJECT_CALM_H

#include <pthread.h>
#include <signal.h>

struct calm {
	sigset_t signals;
	int cancel;
};

static inline void calm_begin(struct calm *c)
{
	sigset_t all;

	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c->cancel);
	pthread_sigmask(SIG_SETMASK, &all, &c->signals);
}

static inline void calm_end(const struct calm *c)
{
	pthread_sigmask(SIG_SETMASK, &c->signals, NULL);
	pthread_setcancelstate(c->cancel, NULL);
}

#endif
