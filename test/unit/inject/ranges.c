#include "inject/ranges/ranges.h"

#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

static int push(struct stream *s, uint32_t domain, uint32_t name)
{
	return ranges_push(s, &(struct range_what){ .domain = domain, .name = name });
}

TEST(push_returns_the_depth_in_its_own_domain_and_pop_the_same)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	CHECK_EQ(push(s, 0, 1), 0);
	CHECK_EQ(push(s, 0, 2), 1);
	CHECK_EQ(push(s, 7, 3), 0);
	CHECK_EQ(push(s, 0, 4), 2);
	CHECK_EQ(ranges_pop(s, 0), 2);
	CHECK_EQ(ranges_pop(s, 7), 0);
	CHECK_EQ(ranges_pop(s, 0), 1);
	CHECK_EQ(ranges_pop(s, 0), 0);
	CHECK_EQ(fake_count(ROW_range), 4);
	stream_leave(s);
}

TEST(a_pop_takes_the_innermost_range_of_its_domain_even_below_others)
{
	const struct range_row *first;
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	push(s, 1, 11);
	push(s, 2, 22);
	uint64_t inner = stream_range(s);

	CHECK_EQ(ranges_pop(s, 1), 0);
	first = fake_row(ROW_range, 0);
	CHECK_EQ(first->name, 11);
	CHECK_EQ(first->level, 0);
	CHECK_EQ(stream_range(s), inner);
	CHECK_EQ(ranges_pop(s, 2), 0);
	CHECK_EQ(stream_range(s), 0);
	stream_leave(s);
}

TEST(a_pop_without_push_is_counted_and_ends_nothing)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	push(s, 1, 11);
	CHECK_EQ(ranges_pop(s, 2), -2);
	CHECK_EQ(guest->arena->health[HEALTH_pop_without_push].count, 1);
	CHECK_EQ(fake_count(ROW_range), 0);
	stream_leave(s);
}

TEST(ranges_deeper_than_the_limit_are_counted_and_their_pops_end_no_other)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	for (uint32_t i = 0; i < MAX_DEPTH + 3; i++)
		push(s, 0, i + 1);
	CHECK_EQ(guest->arena->health[HEALTH_too_deep].count, 3);
	for (uint32_t i = 0; i < MAX_DEPTH + 3; i++)
		ranges_pop(s, 0);
	CHECK_EQ(fake_count(ROW_range), MAX_DEPTH);
	CHECK_EQ(guest->arena->drops[ROW_range].count, 3);
	CHECK_EQ(((const struct range_row *)fake_row(ROW_range, 0))->name, MAX_DEPTH);
	stream_leave(s);
}

TEST(a_started_range_ends_once_and_a_stale_handle_ends_nothing)
{
	uint64_t a, b;
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	a = ranges_start(s, &(struct range_what){ .name = 5 });
	b = ranges_start(s, &(struct range_what){ .name = 6 });
	CHECK(a && b && a != b);
	ranges_end(s, b);
	ranges_end(s, b);
	ranges_end(s, 12345);
	ranges_end(s, ~0ull);
	ranges_end(s, a);
	CHECK_EQ(fake_count(ROW_range), 2);
	CHECK_EQ(guest->arena->health[HEALTH_pop_without_push].count, 3);
	CHECK_EQ(((const struct range_row *)fake_row(ROW_range, 0))->name, 6);
	CHECK_EQ(((const struct range_row *)fake_row(ROW_range, 0))->flags, RANGE_STARTEND);
	stream_leave(s);
}

TEST(started_ranges_beyond_the_limit_get_no_handle_and_are_counted)
{
	static uint64_t handles[MAX_STARTED];
	struct stream *s;

	fake_session(8, 8);
	s = stream_enter();
	for (uint32_t i = 0; i < MAX_STARTED; i++)
		handles[i] = ranges_start(s, &(struct range_what){ .name = 1 });
	CHECK_EQ(ranges_start(s, &(struct range_what){ .name = 1 }), 0);
	CHECK_EQ(guest->arena->health[HEALTH_too_many_started].count, 1);
	for (uint32_t i = 0; i < MAX_STARTED; i++)
		ranges_end(s, handles[i]);
	CHECK_EQ(fake_count(ROW_range), MAX_STARTED);
	CHECK(ranges_start(s, &(struct range_what){ .name = 1 }) != 0);
	stream_leave(s);
}

TEST(a_thread_that_ends_leaves_its_open_ranges_as_incomplete_rows)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	push(s, 0, 1);
	push(s, 3, 2);
	ranges_abandon(s);
	CHECK_EQ(fake_count(ROW_range), 2);
	CHECK_EQ(((const struct range_row *)fake_row(ROW_range, 1))->flags, RANGE_INCOMPLETE);
	CHECK_EQ(s->slot->depth, 0);
	stream_leave(s);
}

TEST(nesting_goes_on_while_nothing_is_recorded)
{
	struct stream *s;

	fake_session(4, 4);
	fake_order(0);
	s = stream_enter();
	push(s, 0, 1);
	push(s, 0, 2);
	ranges_pop(s, 0);
	CHECK_EQ(fake_count(ROW_range), 0);
	fake_order(ORDER_ALL);
	ranges_pop(s, 0);
	CHECK_EQ(fake_count(ROW_range), 1);
	stream_leave(s);
}
