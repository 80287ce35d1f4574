#include "cli/import/bytes/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE     (32u << 20)           /* bytes; blocks of at least this size are still mapped */
#define WORTH_IT  (768u << 10)          /* bytes; less does not pay: clearing one huge page takes as long as 100 page faults */
#define MOST      ((size_t)1 << 30)
#define HUGE_PAGE ((uintptr_t)2 << 20)
#define MORE      (144u << 10)          /* bytes; exceeds the heap's free end, because malloc() extends the heap by 132 KiB */

static uintptr_t up(uintptr_t n)
{
	return (n + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

void heap_expect(size_t bytes)
{
#ifdef __GLIBC__
	void *volatile some;            /* volatile: otherwise the compiler removes malloc() and free() */
	uintptr_t begin = (uintptr_t)sbrk(0), from = up(begin + MORE), to;
	intptr_t gap = (intptr_t)(from - MORE - begin);

	bytes = bytes < MOST ? bytes : MOST;
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	if (bytes < WORTH_IT || sbrk(gap) == (void *)-1)
		return;
	/* malloc() extends the heap now.  Its own writes lie below `from`: a 2 MiB range with a small page gets no huge page. */
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
