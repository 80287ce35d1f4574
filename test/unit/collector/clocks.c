#include "collector/clocks.h"

#include "test/unit/test.h"
#include "trace/clock.h"
#include "trace/wire.h"

TEST(the_three_clocks_are_read_within_microseconds_of_each_other)
{
	int64_t mono = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME);
	struct clock_row row = clocks_read(clocks_tsc_usable());
	int64_t mono_after = clock_ns(CLOCK_MONOTONIC), real_after = clock_ns(CLOCK_REALTIME);

	CHECK(row.mono >= mono && row.mono <= mono_after);
	CHECK(row.real >= real && row.real <= real_after);
	CHECK_EQ(row.tsc != 0, clocks_tsc_usable());
	CHECK_EQ(clocks_read(false).tsc, 0);
}

TEST(the_tsc_runs_as_evenly_as_the_kernels_own_clock)
{
	struct clock_row a, b, c;
	double early, late;

	if (!clocks_tsc_usable()) {
		test_skip("no invariant TSC here");
		return;
	}
	a = clocks_read(true);
	while (clock_ns(CLOCK_MONOTONIC) < a.mono + 5000000)
		;
	b = clocks_read(true);
	while (clock_ns(CLOCK_MONOTONIC) < b.mono + 5000000)
		;
	c = clocks_read(true);
	early = (double)(b.tsc - a.tsc) / (double)(b.mono - a.mono);
	late = (double)(c.tsc - b.tsc) / (double)(c.mono - b.mono);
	CHECK(early / late > 0.999 && early / late < 1.001);
}
