#include "cli/import/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE     (32u << 20)           /* blocks from here on are mapped, as they are in the thousands of megabytes */
#define LITTLE    ((size_t)8 << 20)     /* zeroing 2 MiB costs more than a trace of which no more is expected does in all */
#define PAD       (1 << 20)             /* what the heap grows by, should it not be enough */
#define MOST      ((size_t)1 << 30)
#define HUGE_PAGE ((uintptr_t)2 << 20)

void heap_expect(size_t bytes)
{
#ifdef __GLIBC__
	static void *volatile filler;   /* up to the first huge page; never touched */
	void *volatile some;            /* else the compiler sees that nobody needs it */
	uintptr_t from, to, here;

	bytes = bytes < MOST ? bytes : MOST;
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	if (bytes < LITTLE)
		return;
	mallopt(M_TOP_PAD, (int)bytes);
	from = ((uintptr_t)sbrk(0) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	some = malloc(LARGE / 32);      /* more than is left of the heap: it grows */
	free(some);
	to = (uintptr_t)sbrk(0);
	mallopt(M_TOP_PAD, PAD);
	if (to <= from || to - from > 2 * MOST)
		return;
	madvise((void *)from, to - from, MADV_HUGEPAGE);
	some = malloc(1);
	here = (uintptr_t)some;
	free(some);
	if (!filler && here < from && from - here < 2 * HUGE_PAGE)
		filler = malloc(from - here);
#else
	(void)bytes;
#endif
}
