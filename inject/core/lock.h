/*
 * A lock with a bounded wait.  Its holder may never release it: it left by longjmp() out of a signal handler, was cancelled
 * asynchronously, is a thread that fork() did not copy, or does not run below a waiting real-time thread.  So what a lock guards must stay
 * correct when two threads hold it; only work is then done twice.
 */
#ifndef INJECT_CORE_LOCK_H
#define INJECT_CORE_LOCK_H

#include <sched.h>
#include <stdint.h>

#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "trace/clock.h"

/* A lock word is 0 when free, else guest->epoch of the holder's process, which is not 0 inside stream_enter(). */

/* Locks are held for microseconds.  A holder that waits for a CPU gets one within this time even on a busy machine. */
#define LOCK_WAIT_NS 200000000ll

/* Takes the lock, or returns without it after LOCK_WAIT_NS. */
static inline void lock_take(uint32_t *lock)
{
	uint32_t self = guest->epoch, holder = 0;
	int64_t begin = 0;

	while (!__atomic_compare_exchange_n(lock, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (holder != self)     /* held in the parent process at fork: take it over */
			continue;
		for (int i = 0; i < 256 && __atomic_load_n(lock, __ATOMIC_RELAXED); i++)
			;
		if (seccomp_allows(SECCOMP_LOCK))
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
