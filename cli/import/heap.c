#include "cli/import/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE     (32u << 20)           /* blocks from here on are mapped, as they are in the thousands of megabytes */
#define WORTH_IT  (768u << 10)          /* clearing a huge page takes as long as a hundred faults */
#define MOST      ((size_t)1 << 30)
#define HUGE_PAGE ((uintptr_t)2 << 20)
#define MORE      (144u << 10)          /* than is left of the heap: malloc() gets 132 KiB at a time */

static uintptr_t up(uintptr_t n)
{
	return (n + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

void heap_expect(size_t bytes)
{
#ifdef __GLIBC__
	void *volatile some;            /* else the compiler sees that nobody needs it */
	uintptr_t begin = (uintptr_t)sbrk(0), from = up(begin + MORE), to;
	intptr_t gap = (intptr_t)(from - MORE - begin);

	bytes = bytes < MOST ? bytes : MOST;
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	if (bytes < WORTH_IT || sbrk(gap) == (void *)-1)
		return;
	/* What malloc() writes, now that it gets more, is before `from`: where a small page is, no huge one comes. */
	mallopt(M_TOP_PAD, (int)up(bytes));
	some = malloc(MORE - 4096);
	free(some);
	mallopt(M_TOP_PAD, (int)HUGE_PAGE);
	to = (uintptr_t)sbrk(0);
	if (to <= from)
		sbrk(-gap);
	else if (to - from <= 2 * MOST)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
	(void)bytes;
#endif
}
