#include "cli/import/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE     (32u << 20)           /* blocks from here on are mapped, as they are in the thousands of megabytes */
#define ON_4K     ((uintptr_t)4 << 20)  /* zeroing 2 MiB costs more than a small trace does in all */
#define MOST      ((size_t)1 << 30)
#define HUGE_PAGE ((uintptr_t)2 << 20)

void heap_expect(size_t bytes)
{
#ifdef __GLIBC__
	void *volatile some;            /* else the compiler sees that nobody needs it */
	uintptr_t from, to;

	bytes = bytes < MOST ? bytes : MOST;
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	if (bytes < 2 * ON_4K)
		return;
	mallopt(M_TOP_PAD, (int)bytes);
	from = ((uintptr_t)sbrk(0) + ON_4K + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	some = malloc(LARGE / 32);      /* more than is left of the heap: it grows */
	free(some);
	to = (uintptr_t)sbrk(0);
	mallopt(M_TOP_PAD, (int)(ON_4K / 4));
	if (to > from && to - from <= 2 * MOST)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
	(void)bytes;
#endif
}
