/* Interval arithmetic, compared with a bitmap on thousands of random sets. */
#include "cli/model/spans.h"
#include "test/unit/test.h"

#include <string.h>

#define LENGTH 400
#define FROM   (-100)           /* times before 0 are times too */

static uint64_t state = 362436069;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int64_t count(const char *marked)
{
	int64_t n = 0;

	for (size_t i = 0; i < LENGTH; i++)
		n += marked[i];
	return n;
}

/* What of a stretch of the map is marked. */
static void check_within(const struct spans *s, const char *marked)
{
	size_t from = dice() % LENGTH, to = from + dice() % (LENGTH - from + 1);
	int64_t n = 0;

	for (size_t i = from; i < to; i++)
		n += marked[i];
	CHECK_EQ(spans_within(s, FROM + (int64_t)from, FROM + (int64_t)to), n);
}

/* Some intervals in any order, empty and turned ones among them, and the same as a bitmap. */
static void roll(struct spans *s, char *marked)
{
	size_t n = dice() % 4 ? dice() % 12 : dice() % 100;

	memset(marked, 0, LENGTH);
	for (; n > 0; n--) {
		size_t start = dice() % LENGTH, end = start + dice() % 40;

		if (end > LENGTH)
			end = LENGTH;
		if (dice() % 20 == 0) {
			spans_add(s, FROM + (int64_t)end, FROM + (int64_t)start);
			continue;
		}
		spans_add(s, FROM + (int64_t)start, FROM + (int64_t)end);
		memset(marked + start, 1, end - start);
	}
}

/* In order, and exactly what is marked. */
static void check_set(const struct spans *s, const char *marked)
{
	char got[LENGTH];

	memset(got, 0, sizeof got);
	for (size_t i = 0; i < s->n; i++) {
		CHECK(s->list[i].time < s->list[i].end);
		CHECK(i == 0 || s->list[i - 1].end < s->list[i].time);
		memset(got + (s->list[i].time - FROM), 1, (size_t)(s->list[i].end - s->list[i].time));
	}
	CHECK(memcmp(got, marked, LENGTH) == 0);
	CHECK_EQ(spans_length(s), count(marked));
}

TEST(unions_intersections_differences_and_merges_of_intervals_are_those_of_bitmaps)
{
	char one[LENGTH], two[LENGTH], want[LENGTH];
	struct spans out = { 0 };

	for (unsigned round = 0; round < 20000; round++) {
		struct spans a = { 0 }, b = { 0 };

		roll(&a, one);
		roll(&b, two);
		CHECK_EQ(spans_union(&a), count(one));
		CHECK_EQ(spans_union(&b), count(two));
		check_set(&a, one);
		check_set(&b, two);
		for (size_t i = 0; i < LENGTH; i++)
			want[i] = one[i] & two[i];
		CHECK_EQ(spans_intersect(&a, &b, &out), 0);
		check_set(&out, want);
		CHECK_EQ(spans_common(&a, &b), count(want));
		check_within(&a, one);
		for (size_t i = 0; i < LENGTH; i++)
			want[i] = one[i] & !two[i];
		CHECK_EQ(spans_subtract(&a, &b, &out), 0);
		check_set(&out, want);
		for (size_t i = 0; i < LENGTH; i++)
			want[i] = one[i] | two[i];
		CHECK_EQ(spans_merge(&a, &b), 0);
		check_set(&a, want);
		CHECK_EQ(b.n, 0);
		spans_release(&a);
		spans_release(&b);
	}
	spans_release(&out);
}

TEST(intervals_at_the_ends_of_the_scale_do_not_overflow)
{
	struct spans a = { 0 }, b = { 0 }, out = { 0 };

	spans_add(&a, INT64_MIN, INT64_MAX);
	spans_add(&b, -5, 5);
	CHECK_EQ(spans_union(&a), INT64_MAX);
	CHECK_EQ(spans_union(&b), 10);
	CHECK_EQ(spans_common(&a, &b), 10);
	CHECK_EQ(spans_within(&a, -5, 5), 10);
	CHECK_EQ(spans_within(&b, 3, INT64_MAX), 2);
	CHECK_EQ(spans_within(&b, 5, 9), 0);
	CHECK_EQ(spans_subtract(&a, &b, &out), 0);
	CHECK_EQ(out.n, 2);
	CHECK_EQ(out.list[0].end, -5);
	CHECK_EQ(out.list[1].time, 5);
	spans_release(&a);
	spans_release(&b);
	spans_release(&out);
}
