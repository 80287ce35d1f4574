#include "inject/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define REGION (1u << 20)

/* One add takes a piece; what does not fit any more is lost with the end of the region. */
static struct region {
	size_t used;
	char bytes[REGION - sizeof(size_t)];
} *current;

/* Keeps errno: a hook may run out of memory, and the program must not see it. */
static void *map(size_t size)
{
	int saved = errno;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void *memory_take(size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (size > REGION / 4)
		return map(size);
	for (;;) {
		struct region *r = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
		size_t at = r ? __atomic_fetch_add(&r->used, size, __ATOMIC_RELAXED) : sizeof r->bytes;
		/* bytes begins at 8: an odd start keeps the pieces 16-byte aligned in memory. */
		size_t start = at + 8;

		if (start + size <= sizeof r->bytes)
			return r->bytes + start;

		struct region *fresh = map(sizeof *fresh);

		if (!fresh)
			return NULL;
		/* Another thread may have been faster. */
		if (!__atomic_compare_exchange_n(&current, &r, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			munmap(fresh, sizeof *fresh);
	}
}
