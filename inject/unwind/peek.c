#include "inject/unwind/peek.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject/core/seccomp.h"

/*
 * Asks rt_sigprocmask() to read a signal set at the address, with an invalid `how`: the kernel reads the set first (EFAULT if unmapped),
 * then rejects `how`, and changes nothing.  A third of the cost of process_vm_readv(), and no sandbox forbids it.
 */
bool peek_mapped(uint64_t at)
{
	int saved = errno;
	/* A NULL set is valid for rt_sigprocmask(), so test for it here. */
	bool mapped = at && seccomp_allows(SECCOMP_PEEK) && (syscall(SYS_rt_sigprocmask, ~0, at, NULL, 8) == 0 || errno != EFAULT);

	errno = saved;
	return mapped;
}

bool peek_all_mapped(uint64_t from, size_t n)
{
	if (from + n < from)
		return false;
	for (uint64_t at = from & ~7ull; at < from + n; at = (at & ~4095ull) + 4096)
		if (!peek_mapped(at))
			return false;
	return true;
}

/* For sandboxes that forbid process_vm_readv().  Race: another thread could unmap the memory between the check and the copy. */
static bool peek_slowly(void *to, uint64_t from, size_t n)
{
	if (!peek_all_mapped(from, n))
		return false;
	memcpy(to, (const void *)(uintptr_t)from, n);
	return true;
}

bool peek(void *to, uint64_t from, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };
	int saved = errno, why;
	ssize_t got;

	if (!n || from + n < from)
		return !n;
	if (!seccomp_allows(SECCOMP_PEEK))
		return false;
	/* 0ul: the sixth argument of syscall() lies on the stack, where an int leaves the upper half as it was: EINVAL. */
	got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1, &remote, 1, 0ul);
	why = errno;
	errno = saved;
	if (got == (ssize_t)n)
		return true;
	return got < 0 && why != EFAULT && peek_slowly(to, from, n);
}

bool peek_words(uint64_t *to, const uint64_t *from, uint32_t n)
{
	struct iovec local = { to, 8ull * n }, remote[PEEK_WORDS];
	int saved = errno, why;
	ssize_t got;

	if (!seccomp_allows(SECCOMP_PEEK))
		return false;
	for (uint32_t i = 0; i < n; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)from[i], 8 };
	got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1, remote, n, 0ul);
	why = errno;
	errno = saved;
	if (got == (ssize_t)(8ull * n))
		return true;
	for (uint32_t i = 0; got < 0 && why != EFAULT && i < n; i++)
		if (!peek_slowly(&to[i], from[i], 8))
			return false;
	return got < 0 && why != EFAULT;
}
