/*
 * If the program limits its address space (RLIMIT_AS) or locks its memory (mlockall()) after the arena and CUPTI's buffers were mapped,
 * they are made smaller, so that the program keeps nearly all of its allowance.  Direct system calls, and limits set by other processes,
 * are not seen.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/core/memory.h"
#include "inject/core/seccomp.h"
#include "inject/core/stream.h"
#include "inject/cupti/cupti_buffers.h"

#define EXPORT __attribute__((visibility("default")))

/* Not in a child of vfork(): it shares the memory, not the limits. */
static bool tighten(uint64_t most)
{
	int saved = errno;
	bool own = session_in_own_memory() && seccomp_allows(SECCOMP_LIMIT);

	if (own) {
		session_drop_parents();
		stream_tighten(most);
		cupti_buffers_tighten();
	}
	errno = saved;
	return own;
}

/* ---- interposed.  On 64-bit machines rlimit and rlimit64 are the same, and libc adds nothing to the system call ---- */

static int limit(pid_t pid, int resource, const void *limits, void *old)
{
	const struct rlimit *to = limits;
	int rc = (int)syscall(SYS_prlimit64, pid, resource, limits, old);

	/* After the call: the kernel has checked that `limits` can be read. */
	if (rc == 0 && to && resource == RLIMIT_AS && to->rlim_cur != RLIM_INFINITY && session_has_mapped() &&
	    (!pid || (uint32_t)pid == session_pid()))
		tighten(to->rlim_cur / 16 < SESSION_TIGHT ? to->rlim_cur / 16 : SESSION_TIGHT);
	return rc;
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limits)
{
	return limit(0, (int)resource, limits, NULL);
}

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limits)
{
	return limit(0, (int)resource, limits, NULL);
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limits, struct rlimit *old)
{
	return limit(pid, (int)resource, limits, old);
}

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limits, struct rlimit64 *old)
{
	return limit(pid, (int)resource, limits, old);
}

/* After tighten(), if even that exceeds what the program may lock: at most 1 MiB for rows. */
static bool tighten_more(void)
{
	if (!guest->arena)
		return false;
	stream_tighten(guest->arena->blocks + (1u << 20));
	stream_tighten_slots();
	return true;
}

/* After tighten().  Each munlock() stops at the first hole, where the rest is unmapped. */
static void unlock_ours(void)
{
	struct arena *a = guest->arena;

	memory_unlock();
	if (!a)
		return;
	munlock(a, a->blocks);
	munlock((char *)a + a->blocks, a->size - a->blocks);
}

/* Existing mappings of the profiler were locked with the program's: unlock them.  Later mappings: memory.c. */
EXPORT int mlockall(int flags)
{
	bool own = session_has_mapped() && tighten(SESSION_TIGHT);
	int rc = (int)syscall(SYS_mlockall, flags), saved;

	if (rc < 0 && own && errno == ENOMEM && tighten_more())
		rc = (int)syscall(SYS_mlockall, flags);
	saved = errno;
	if (rc == 0) {
		memory_set_locking(flags & MCL_FUTURE);
		if (own)
			unlock_ours();
	}
	errno = saved;
	return rc;
}

EXPORT int munlockall(void)
{
	int rc = (int)syscall(SYS_munlockall);

	if (rc == 0)
		memory_set_locking(false);
	return rc;
}
