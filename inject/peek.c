#include "inject/peek.h"

#include <errno.h>
#include <sys/uio.h>

#include "inject/session.h"

bool peek(void *to, uint64_t from, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)from, n };
	int saved = errno;
	ssize_t got = process_vm_readv(session_real_pid(), &here, 1, &there, 1, 0);

	errno = saved;
	return got >= 0 && (size_t)got == n;
}
