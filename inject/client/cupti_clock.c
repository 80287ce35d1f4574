#include "inject/client/cupti_clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "inject/client/cupti_window.h"
#include "inject/core/lock.h"
#include "inject/cupti/cupti_layout.h"
#include "trace/clock.h"

#define READINGS 64u
#define APART    10000000ll     /* ns between stored readings, at first; closer ones say little about the rate */
#define FRESH    1000000ll      /* ns during which the last reading is recent enough */
#define TRIES    5              /* the quickest of so many is stored: it was interrupted least */

struct clock_pair {
	int64_t realtime;
	uint64_t theirs;
};

static uint64_t (*function)(void);
static struct clock_pair readings[READINGS];
static int64_t apart;
static uint32_t n, lock;

void cupti_clock_set(uint64_t (*clock)(void))
{
	lock_take(&lock);
	if (clock != function) {
		n = 0;
		apart = APART;
	}
	__atomic_store_n(&function, clock, __ATOMIC_RELEASE);
	lock_give(&lock);
	cupti_clock_read();
}

uint64_t (*cupti_clock_get(void))(void)
{
	return __atomic_load_n(&function, __ATOMIC_ACQUIRE);
}

/*
 * The last reading is the newest; earlier ones are at least `apart` ns apart.  When the table is full every second one is dropped and
 * `apart` doubles, so that the table always reaches back to the first reading.
 */
void cupti_clock_put(int64_t realtime, uint64_t theirs)
{
	lock_take(&lock);
	if (!n || realtime > readings[n - 1].realtime) {
		if (n > 1 && readings[n - 1].realtime - readings[n - 2].realtime < apart)
			n--;
		if (n == READINGS) {
			for (n = 0; n < READINGS / 2; n++)
				readings[n] = readings[2 * n];
			apart *= 2;
		}
		readings[n++] = (struct clock_pair){ realtime, theirs };
	}
	lock_give(&lock);
}

/* The client's function is called without the lock: it may take a lock too. */
void cupti_clock_read(void)
{
	uint64_t (*clock)(void) = cupti_clock_get();
	int64_t best = INT64_MAX, when = 0, last;
	uint64_t theirs = 0;

	if (!clock)
		return;
	lock_take(&lock);
	last = n > 1 ? readings[n - 1].realtime : 0;
	lock_give(&lock);
	if (last && clock_ns(CLOCK_REALTIME) - last < FRESH)
		return;
	for (int i = 0; i < TRIES; i++) {
		int64_t before = clock_ns(CLOCK_REALTIME);
		uint64_t now = clock();
		int64_t took = clock_ns(CLOCK_REALTIME) - before;

		if (took < 0 || took >= best)
			continue;
		best = took;
		when = before + took / 2;
		theirs = now;
	}
	if (best != INT64_MAX)
		cupti_clock_put(when, theirs);
}

/* Interpolates between readings a and b, or extrapolates beyond them. */
static uint64_t between(const struct clock_pair *a, const struct clock_pair *b, int64_t realtime)
{
	__int128 theirs = (int64_t)(b->theirs - a->theirs);

	return a->theirs + (uint64_t)(int64_t)(theirs * (realtime - a->realtime) / (b->realtime - a->realtime));
}

uint64_t cupti_clock_convert(uint64_t realtime)
{
	int64_t when = (int64_t)realtime;
	uint64_t result = realtime;
	uint32_t i = 1;

	if (!realtime || !cupti_clock_get())
		return realtime;
	lock_take(&lock);
	while (i + 1 < n && readings[i].realtime < when)
		i++;
	if (n > 1)
		result = between(&readings[i - 1], &readings[i], when);
	else if (n)             /* one reading, rate unknown: assume nanoseconds */
		result = readings[0].theirs + (uint64_t)(when - readings[0].realtime);
	lock_give(&lock);
	return result;
}

void cupti_clock_stamp(uint8_t *record, size_t size)
{
	unsigned offsets[CUPTI_TIMES];
	size_t times = cupti_clock_get() ? cupti_record_times(at32(record, 0), size, offsets) : 0;

	for (size_t i = 0; i < times; i++) {
		uint64_t t = cupti_clock_convert(at64(record, offsets[i]));

		memcpy(record + offsets[i], &t, sizeof t);
	}
}
