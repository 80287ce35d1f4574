#include "cli/model/sort.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT 11u /* bits per pass; 2048 counters fit the L1 cache.  64 bits would need six passes, usual times need three or four */

static bool is_sorted(const struct timed *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (p[i].time < p[i - 1].time)
			return false;
	return true;
}

static void insertion_sort(struct timed *p, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct timed x = p[i];
		size_t j = i;

		for (; j > 0 && p[j - 1].time > x.time; j--)
			p[j] = p[j - 1];
		p[j] = x;
	}
}

/* One pass over the digit at `shift` of time - base.  base is the smallest time, so the high digits are all 0 and need no pass. */
static struct timed *radix_pass(struct timed *from, struct timed *to, size_t n, int64_t base, unsigned shift)
{
	static const uint64_t mask = (1u << DIGIT) - 1;
	size_t places[1u << DIGIT] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		places[((uint64_t)from[i].time - (uint64_t)base) >> shift & mask]++;
	for (size_t d = 0; d <= mask; d++) {
		size_t here = places[d];

		if (here == n)
			return from;
		places[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[places[((uint64_t)from[i].time - (uint64_t)base) >> shift & mask]++] = from[i];
	return to;
}

int timed_sort(struct timed *p, size_t n)
{
	struct timed *scratch, *now = p;
	int64_t low, high;

	if (n < 64) {
		insertion_sort(p, n);
		return 0;
	}
	if (is_sorted(p, n))
		return 0;
	scratch = malloc(n * sizeof *scratch);
	if (!scratch)
		return -1;
	low = high = p[0].time;
	for (size_t i = 1; i < n; i++) {
		low = p[i].time < low ? p[i].time : low;
		high = p[i].time > high ? p[i].time : high;
	}
	for (unsigned shift = 0; shift < 64 && ((uint64_t)high - (uint64_t)low) >> shift; shift += DIGIT)
		now = radix_pass(now, now == p ? scratch : p, n, low, shift);
	if (now != p)
		memcpy(p, now, n * sizeof *p);
	free(scratch);
	return 0;
}
