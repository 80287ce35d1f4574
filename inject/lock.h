/*
 * A lock that can be waited for, but not for ever.  Its holder may be gone: it left our code by a longjmp out of a signal handler, was
 * cancelled asynchronously, or is a thread that a fork did not copy; or it does not run, below a real-time thread that waits for it.
 * So what a lock guards here must stay right when two go in at once; only work is then done twice.
 */
#ifndef INJECT_LOCK_H
#define INJECT_LOCK_H

#include <sched.h>
#include <stdint.h>

#include "inject/session.h"
#include "trace/clock.h"

/* 0: free, else the epoch of the process that holds it.  A hook has entered a stream before, so there is one. */

/* Held for microseconds; a holder that has to wait for a CPU comes back within this even on a busy machine. */
#define LOCK_WAIT_NS 200000000ll

static inline void lock_take(uint32_t *lock)
{
	uint32_t self = guest->epoch, holder = 0;
	int64_t begin = 0;

	while (!__atomic_compare_exchange_n(lock, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (holder != self)     /* a thread of the process that forked this one */
			continue;
		for (int i = 0; i < 256 && __atomic_load_n(lock, __ATOMIC_RELAXED); i++)
			;
		sched_yield();

		int64_t now = clock_ns(CLOCK_MONOTONIC);

		if (!begin)
			begin = now;
		if (now - begin > LOCK_WAIT_NS)
			return;
		holder = 0;
	}
}

static inline void lock_give(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
