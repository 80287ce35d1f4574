#include "cli/model/sort.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state = 362436069;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

TEST(rows_are_sorted_by_time_and_equal_ones_keep_their_order)
{
	static const unsigned bits[] = { 1, 8, 20, 40, 63 };
	enum { N = 5000 };
	struct timed *p = malloc(N * sizeof *p);

	for (size_t round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < N; i++)
			p[i] = (struct timed){
				.time = (int64_t)(dice() >> (64 - bits[round % 5])) - (round > 4 ? 1000 : 0), .row = i
			};
		CHECK_EQ(timed_sort(p, round == 3 ? 50 : N), 0);
		for (size_t i = 1; i < (round == 3 ? 50 : N); i++)
			CHECK(p[i - 1].time < p[i].time || (p[i - 1].time == p[i].time && p[i - 1].row < p[i].row));
	}
	p[0].time = INT64_MAX;
	p[1].time = INT64_MIN;
	CHECK_EQ(timed_sort(p, N), 0);
	CHECK_EQ(p[0].time, INT64_MIN);
	CHECK_EQ(p[N - 1].time, INT64_MAX);
	free(p);
}
