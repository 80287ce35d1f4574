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

TEST(the_union_of_intervals_is_that_of_a_bitmap)
{
	enum { LENGTH = 2000 };
	char marked[LENGTH];

	for (unsigned round = 0; round < 500; round++) {
		struct spans s = { 0 };
		int64_t want = 0;

		memset(marked, 0, sizeof marked);
		for (size_t n = dice() % 200; n > 0; n--) {
			int64_t start = (int64_t)(dice() % LENGTH), end = start + (int64_t)(dice() % 60);

			if (end > LENGTH)
				end = LENGTH;
			spans_add(&s, start, end);
			memset(marked + start, 1, (size_t)(end - start));
		}
		for (size_t i = 0; i < LENGTH; i++)
			want += marked[i];
		CHECK_EQ(spans_union(&s), want);
		for (size_t i = 1; i < s.n; i++)
			CHECK(s.list[i - 1].end < s.list[i].time);
		spans_release(&s);
	}
}
