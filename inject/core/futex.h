/*
 * Waits on words of this object's memory.  The operations are not the private ones, because the collector waits on words, too, and a wait
 * and its wake must be of one kind.  SECCOMP_BELL: system_calls.def lists both operations.
 */
#ifndef INJECT_CORE_FUTEX_H
#define INJECT_CORE_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/core/seccomp.h"
#include "inject/core/stream.h"

/* Threads of this object are older than any filter of the program that they would be killed by. */
static inline bool futex_allowed(void)
{
	return seccomp_allows(SECCOMP_BELL) || stream_self.tool;
}

/* Sleeps for at most `ns` while *word is `value`.  Where a filter forbids it, returns at once: the caller polls. */
static inline void futex_wait(uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	if (ns > 0 && futex_allowed())
		syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

/* Wakes `most` threads. */
static inline void futex_wake(uint32_t *word, int most)
{
	if (futex_allowed())
		syscall(SYS_futex, word, FUTEX_WAKE, most, NULL, NULL, 0);
}

#endif
