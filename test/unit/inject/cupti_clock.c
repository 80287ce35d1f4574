/* Conversion of times from the clock that the program's own profiler registered. */
#include "inject/client/cupti_clock.h"

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define LATER (INT64_MAX / 4)
#define MS    1000000ll

static uint64_t some_clock(void)
{
	return 1;
}

TEST(times_are_converted_between_readings_of_both_clocks)
{
	cupti_fake(130001);
	cupti_clock_set(NULL);
	CHECK_EQ(cupti_clock_convert(1234), 1234);
	cupti_clock_set(some_clock);
	cupti_clock_set(NULL);
	cupti_clock_set(some_clock);            /* forgets, and reads once: now, 1 */
	cupti_clock_put(LATER, 1000);
	cupti_clock_put(LATER + 20 * MS, 4000);
	cupti_clock_put(LATER + 40 * MS, 5000);
	CHECK_EQ(cupti_clock_convert(LATER + 10 * MS), 2500);
	CHECK_EQ(cupti_clock_convert(LATER + 30 * MS), 4500);
	CHECK_EQ(cupti_clock_convert(LATER + 60 * MS), 6000);
	CHECK_EQ(cupti_clock_convert(0), 0);
	cupti_clock_set(NULL);
}

TEST(any_number_of_readings_is_kept_in_order)
{
	cupti_fake(130001);
	cupti_clock_set(NULL);
	cupti_clock_set(some_clock);
	for (int64_t i = 1; i <= 1000; i++)
		cupti_clock_put(LATER + i * 20 * MS, 10000u + (uint64_t)i * 3000);
	/* All but the very first, which is of now. */
	for (int64_t i = 100; i < 1000; i += 7)
		CHECK_EQ(cupti_clock_convert((uint64_t)(LATER + i * 20 * MS + 10 * MS)), 10000 + i * 3000 + 1500);
	cupti_clock_set(NULL);
}
