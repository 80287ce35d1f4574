#include "inject/core/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "inject/core/seccomp.h"

#define REGION (1u << 20)

/* memory_take() hands out pieces of the current region.  A piece that no longer fits starts a new region; the remainder is wasted. */
static struct region {
	size_t used;
	char bytes[REGION - sizeof(size_t)];
} *current;

#define PAGE 4096u

static bool locking;

void memory_set_locking(bool on)
{
	__atomic_store_n(&locking, on, __ATOMIC_RELAXED);
}

bool memory_is_locking(void)
{
	return __atomic_load_n(&locking, __ATOMIC_RELAXED);
}

/*
 * Reserves PROT_NONE pages and takes their lock off before they become accessible: mapping then neither populates the pages nor counts them
 * against the program's RLIMIT_MEMLOCK.
 */
static void *map_unlocked(size_t size, int flags, int fd)
{
	void *page = mmap(NULL, PAGE, PROT_NONE, flags, fd, 0), *p;

	if (page == MAP_FAILED)
		return NULL;
	munlock(page, PAGE);
	p = mremap(page, PAGE, size, MREMAP_MAYMOVE);
	if (p != MAP_FAILED && mprotect(p, size, PROT_READ | PROT_WRITE) == 0)
		return p;

	int why = errno;

	munmap(p == MAP_FAILED ? page : p, p == MAP_FAILED ? PAGE : size);
	errno = why;
	return NULL;
}

void *memory_map_file(size_t size, int flags, int fd)
{
	void *p;

	if (!seccomp_allows(SECCOMP_MEMORY)) {
		errno = EPERM;
		return NULL;
	}
	if (memory_is_locking())
		return map_unlocked(size, flags, fd);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* Restores errno: a hook may run out of memory, and the program must not see a changed errno. */
void *memory_map(size_t size)
{
	int saved = errno;
	void *p = memory_map_file(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	errno = saved;
	return p;
}

void memory_unmap(void *p, size_t size)
{
	int saved = errno;

	if (seccomp_allows(SECCOMP_MEMORY))
		munmap(p, size);
	errno = saved;
}

void memory_unlock(void)
{
	struct region *r = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

	if (r)
		munlock(r, sizeof *r);
}

void *memory_take(size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (size > REGION / 4)
		return memory_map(size);
	for (;;) {
		struct region *r = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
		size_t at = r ? __atomic_fetch_add(&r->used, size, __ATOMIC_RELAXED) : sizeof r->bytes;
		/* bytes starts 8 bytes into the region, so at + 8 makes the address a multiple of 16. */
		size_t start = at + 8;

		if (start + size <= sizeof r->bytes)
			return r->bytes + start;

		struct region *fresh = memory_map(sizeof *fresh);

		if (!fresh)
			return NULL;
		/* If another thread installed a region first, use that one. */
		if (!__atomic_compare_exchange_n(&current, &r, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			memory_unmap(fresh, sizeof *fresh);
	}
}
