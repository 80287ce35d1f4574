#include "inject/capture/capture.h"

#include <stdlib.h>

#include "test/unit/test.h"

static struct capture machine(struct capture_plan plan)
{
	struct capture c;

	capture_init(&c, &plan);
	return c;
}

/* A program that is recorded from its start on, as far as its plan says so. */
static struct capture started(struct capture_plan plan)
{
	struct capture c = machine(plan);

	capture_feed(&c, EVENT_ORDER_ON, 0);
	return c;
}

static struct capture ranged(enum capture_range_end end, uint64_t repeats)
{
	return started((struct capture_plan){ .range = RANGE_PROFILER, .range_end = end, .repeats = repeats });
}

TEST(without_a_plan_the_orders_alone_decide)
{
	struct capture c = machine((struct capture_plan){ 0 });

	CHECK_EQ(c.state, STATE_WAIT);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_ON, 0), CAPTURE_OPENED);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_ON, 0), 0);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_OFF, 0), CAPTURE_CLOSED);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_OFF, 0), 0);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_ON, 0), CAPTURE_OPENED);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_OVER, 0), CAPTURE_CLOSED);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_ON, 0), 0);
	CHECK_EQ(c.state, STATE_OFF);
}

TEST(a_range_is_recorded_and_nothing_after_it)
{
	struct capture c = ranged(RANGE_END_STOP, 0);

	CHECK_EQ(c.state, STATE_WAIT);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), 0);
	CHECK_EQ(c.state, STATE_OFF);
}

TEST(nested_pairs_are_one_range)
{
	struct capture c = ranged(RANGE_END_STOP, 0);

	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), 0);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), 0);
	CHECK_EQ(c.state, STATE_RECORD);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED);
}

TEST(a_stop_without_a_start_is_said_and_changes_nothing)
{
	struct capture c = ranged(RANGE_END_STOP, 0);

	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_UNBALANCED);
	CHECK_EQ(capture_feed(&c, EVENT_STEP_END, 3), CAPTURE_UNBALANCED);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
}

TEST(the_end_of_a_range_can_be_ignored)
{
	struct capture c = ranged(RANGE_END_NONE, 0);

	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), 0);
	CHECK_EQ(c.state, STATE_RECORD);
}

TEST(as_many_ranges_as_asked_for_are_recorded)
{
	struct capture c = ranged(RANGE_END_REPEAT, 3);

	for (int i = 0; i < 3; i++) {
		CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
		CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED);
	}
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), 0);
	c = ranged(RANGE_END_REPEAT, 0);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
		CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED);
	}
}

TEST(shutdown_is_asked_for_once_the_last_range_has_ended)
{
	struct capture c = ranged(RANGE_END_STOP_SHUTDOWN, 0);

	capture_feed(&c, EVENT_RANGE_BEGIN, 0);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED | CAPTURE_SHUTDOWN);
	c = ranged(RANGE_END_REPEAT_SHUTDOWN, 2);
	capture_feed(&c, EVENT_RANGE_BEGIN, 0);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED);
	capture_feed(&c, EVENT_RANGE_BEGIN, 0);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED | CAPTURE_SHUTDOWN);
}

TEST(a_range_that_was_not_recorded_does_not_count)
{
	struct capture c = machine((struct capture_plan){ .range = RANGE_NVTX, .range_end = RANGE_END_STOP });

	capture_feed(&c, EVENT_RANGE_BEGIN, 0);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), 0);
	capture_feed(&c, EVENT_ORDER_ON, 0);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_BEGIN, 0), CAPTURE_OPENED);
}

TEST(a_range_that_is_open_when_the_order_comes_is_recorded_from_there)
{
	struct capture c = machine((struct capture_plan){ .range = RANGE_NVTX, .range_end = RANGE_END_STOP });

	capture_feed(&c, EVENT_RANGE_BEGIN, 0);
	CHECK_EQ(capture_feed(&c, EVENT_ORDER_ON, 0), CAPTURE_OPENED);
	CHECK_EQ(capture_feed(&c, EVENT_RANGE_END, 0), CAPTURE_CLOSED);
	CHECK_EQ(c.state, STATE_OFF);
}

TEST(the_end_of_the_program_cuts_ranges_and_cycles_short_and_nothing_else)
{
	CHECK(!capture_is_cut_by_exit(&(struct capture_plan){ 0 }));
	CHECK(!capture_is_cut_by_exit(&(struct capture_plan){ .range = RANGE_NVTX, .range_end = RANGE_END_NONE }));
	CHECK(capture_is_cut_by_exit(&(struct capture_plan){ .range = RANGE_NVTX, .range_end = RANGE_END_STOP }));
	CHECK(capture_is_cut_by_exit(&(struct capture_plan){ .scheduled = true }));
}

static unsigned step(struct capture *c, unsigned kind)
{
	return capture_feed(c, EVENT_STEP_BEGIN, kind) | capture_feed(c, EVENT_STEP_END, kind) << 8;
}

#define OPENED_AT_BEGIN CAPTURE_OPENED
#define CLOSED_AT_END   ((CAPTURE_CLOSED | CAPTURE_READY) << 8)

TEST(a_cycle_of_the_schedule_is_a_window_from_its_first_active_step_to_its_last)
{
	struct capture c = started((struct capture_plan){
		.scheduled = true, .schedule = { .skip_first = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 2 } });

	for (int cycle = 0; cycle < 2; cycle++) {
		if (!cycle)
			CHECK_EQ(step(&c, 0), 0);
		CHECK_EQ(step(&c, 0), 0);
		CHECK_EQ(step(&c, 0), 0);
		CHECK(capture_warms(&c, 0));
		CHECK_EQ(c.state, STATE_WARMUP);
		CHECK_EQ(step(&c, 0), OPENED_AT_BEGIN);
		CHECK_EQ(c.state, STATE_RECORD);        /* between two active steps */
		CHECK_EQ(step(&c, 0), CLOSED_AT_END);
		CHECK_EQ(c.state, STATE_WAIT);
	}
	for (int i = 0; i < 20; i++)
		CHECK_EQ(step(&c, 0), 0);
}

TEST(cycles_without_a_pause_are_windows_of_their_own)
{
	struct capture c = started((struct capture_plan){ .scheduled = true, .schedule = { .active = 1 } });

	for (int i = 0; i < 10; i++)
		CHECK_EQ(step(&c, 0), OPENED_AT_BEGIN | CLOSED_AT_END);
}

TEST(each_kind_of_step_has_a_schedule_of_its_own)
{
	struct capture c = started((struct capture_plan){ .scheduled = true, .schedule = { .wait = 1, .active = 1, .repeat = 1 } });

	CHECK_EQ(step(&c, 0), 0);
	CHECK_EQ(step(&c, 1), 0);
	CHECK_EQ(step(&c, 1), OPENED_AT_BEGIN | CLOSED_AT_END);
	CHECK_EQ(step(&c, 1), 0);
	CHECK_EQ(step(&c, 0), OPENED_AT_BEGIN | CLOSED_AT_END);
}

TEST(the_schedule_begins_when_rows_may_be_kept)
{
	struct capture c = machine((struct capture_plan){ .scheduled = true, .schedule = { .wait = 1, .active = 1 } });

	for (int i = 0; i < 5; i++)
		CHECK_EQ(step(&c, 0), 0);
	capture_feed(&c, EVENT_ORDER_ON, 0);
	CHECK_EQ(step(&c, 0), 0);
	CHECK_EQ(step(&c, 0), OPENED_AT_BEGIN | CLOSED_AT_END);
}

/* What of a history decides, said another way: from the whole of it each time. */
static bool kept(const struct capture_plan *plan, const uint8_t *events, size_t n)
{
	bool on = false, over = false, begun = false, counts = false;
	uint64_t depth = 0, ranges = 0;

	for (size_t i = 0; i < n; i++) {
		on = events[i] == EVENT_ORDER_ON || (on && events[i] != EVENT_ORDER_OFF);
		over |= events[i] == EVENT_ORDER_OVER;
		begun |= events[i] == EVENT_RANGE_BEGIN;
		depth += events[i] == EVENT_RANGE_BEGIN;
		counts |= depth && on && !over;
		if (events[i] == EVENT_RANGE_END && depth && --depth == 0) {
			ranges += counts;
			counts = false;
		}
	}
	if (plan->range == RANGE_NONE)
		return on && !over;
	switch (plan->range_end) {
	case RANGE_END_NONE:
		return on && !over && begun;
	case RANGE_END_STOP:
	case RANGE_END_STOP_SHUTDOWN:
		return on && !over && depth && !ranges;
	default:
		return on && !over && depth && (!plan->repeats || ranges < plan->repeats);
	}
}

TEST(any_history_is_decided_as_its_whole_says)
{
	static const uint8_t usual[] = { EVENT_ORDER_ON, EVENT_ORDER_OFF, EVENT_RANGE_BEGIN, EVENT_RANGE_END };
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		struct capture_plan plan = { .range = (uint32_t)rand_r(&seed) % 3, .range_end = (uint32_t)rand_r(&seed) % 5,
					     .repeats = (uint64_t)rand_r(&seed) % 3 };
		struct capture c = machine(plan);
		uint8_t events[40];
		int windows = 0;

		for (size_t i = 0; i < sizeof events; i++) {
			unsigned said;

			events[i] = rand_r(&seed) % 60 ? usual[rand_r(&seed) % sizeof usual] : EVENT_ORDER_OVER;
			said = capture_feed(&c, (enum capture_event)events[i], 0);
			windows += !!(said & CAPTURE_OPENED) - !!(said & CAPTURE_CLOSED);
			if (!CHECK_EQ(c.state == STATE_RECORD, kept(&plan, events, i + 1)) ||
			    !CHECK_EQ(windows, c.state == STATE_RECORD))
				return;
		}
	}
}

/* As ranges that start before the one before has ended. */
TEST(a_cycle_whose_last_step_is_overtaken_is_finished_all_the_same)
{
	struct capture_plan plan = { .scheduled = true };
	struct capture c;
	char why[100];

	CHECK_EQ(schedule_parse(&plan.schedule, "wait=1,active=1", why, sizeof why), 0);
	c = started(plan);
	capture_feed(&c, EVENT_STEP_BEGIN, 0);
	CHECK_EQ(capture_feed(&c, EVENT_STEP_BEGIN, 0), CAPTURE_OPENED);
	capture_feed(&c, EVENT_STEP_END, 0);
	CHECK_EQ(capture_feed(&c, EVENT_STEP_BEGIN, 0), CAPTURE_CLOSED | CAPTURE_READY);
	CHECK_EQ(capture_feed(&c, EVENT_STEP_END, 0), 0);
}
