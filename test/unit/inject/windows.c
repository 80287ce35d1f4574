#include "inject/capture/windows.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/capture/watch.h"
#include "inject/core/intern.h"
#include "inject/ranges/ranges.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

static int push(struct stream *s, const char *text)
{
	struct range_what w = { .name = intern_text(s, text) };

	if (gate_now() & GATE_WATCH)
		w.watched = watch_name(w.name, text, strlen(text), NULL);
	return ranges_push(s, &w);
}

static const struct window_row *window(size_t i)
{
	return fake_row(ROW_window, i);
}

static const struct step_row *step(size_t i)
{
	return fake_row(ROW_step, i);
}

TEST(a_process_recorded_whole_keeps_all_and_has_no_window)
{
	struct stream *s = fake_stepped("", "");

	CHECK(fake_call(s, 1));
	CHECK(fake_call(s, 2));
	CHECK(windows_keep(1, 5));
	CHECK(windows_keep(0, 5));
	CHECK(windows_keep(4000000000u, 5));
	CHECK_EQ(fake_count(ROW_window), 0);
	CHECK_EQ(guest->arena->n_windows, 1);
	stream_leave(s);
}

TEST(an_order_to_stop_ends_the_window_at_the_first_call_after_it)
{
	struct stream *s = fake_stepped("", "");

	CHECK(fake_call(s, 10));
	fake_order(0);
	CHECK(!fake_call(s, 11));
	CHECK_EQ(fake_count(ROW_window), 1);
	CHECK_EQ(window(0)->number, 1);
	CHECK_EQ(window(0)->first_corr, 1);
	CHECK_EQ(window(0)->end_corr, 11);
	CHECK(windows_keep(10, 1));
	CHECK(!windows_keep(11, 1));
	CHECK(!windows_keep(0, clock_ns(CLOCK_REALTIME)));
	stream_leave(s);
}

TEST(kernels_of_a_window_are_those_that_were_launched_in_it)
{
	struct stream *s = fake_stepped("", "");

	fake_order(0);
	fake_call(s, 5);
	fake_order(ORDER_ALL);
	CHECK(!windows_keep(5, clock_ns(CLOCK_REALTIME)));      /* late, of a call before */
	CHECK(fake_call(s, 6));
	CHECK(fake_call(s, 7));
	fake_order(0);
	CHECK(windows_keep(7, clock_ns(CLOCK_REALTIME)));       /* no call came since: it can only be of the window */
	CHECK(!fake_call(s, 8));
	CHECK(windows_keep(6, 1) && windows_keep(7, 1));
	CHECK(!windows_keep(5, 1) && !windows_keep(8, 1));
	CHECK_EQ(window(1)->first_corr, 6);
	CHECK_EQ(window(1)->end_corr, 8);
	stream_leave(s);
}

TEST(correlation_ids_may_begin_anew_in_a_window)
{
	struct stream *s = fake_stepped("", "");

	fake_order(0);
	fake_call(s, 0xfffffffd);
	fake_order(ORDER_ALL);
	fake_call(s, 0xfffffffe);
	fake_call(s, 3);
	fake_order(0);
	fake_call(s, 4);
	CHECK(windows_keep(0xfffffffe, 1) && windows_keep(0xffffffff, 1) && windows_keep(1, 1) && windows_keep(3, 1));
	CHECK(!windows_keep(0xfffffffd, 1) && !windows_keep(4, 1));
	stream_leave(s);
}

TEST(a_window_without_a_call_has_no_ids_and_no_kernels)
{
	struct stream *s = fake_stepped("", "");

	fake_order(0);
	fake_call(s, 5);
	fake_order(ORDER_ALL);
	gate_now();
	fake_order(0);
	fake_call(s, 6);
	CHECK_EQ(fake_count(ROW_window), 2);
	CHECK_EQ(window(1)->first_corr, 0);
	CHECK_EQ(window(1)->end_corr, 0);
	CHECK(!windows_keep(5, 1) && !windows_keep(6, 1));
	stream_leave(s);
}

TEST(each_of_a_thousand_windows_has_its_own_rows)
{
	struct stream *s = fake_stepped("", "");
	uint32_t corr = 1;

	fake_order(0);
	fake_call(s, corr++);
	for (int i = 0; i < 1000; i++) {
		fake_order(ORDER_ALL);
		for (int k = 0; k < 3; k++)
			CHECK(fake_call(s, corr++));
		fake_order(0);
		CHECK(!fake_call(s, corr++));
		for (uint32_t k = 1; k <= 5; k++)
			CHECK_EQ(windows_keep(corr - k, 1), k >= 2 && k <= 4);
	}
	CHECK_EQ(fake_count(ROW_window), 1001);
	for (uint32_t i = 1; i <= 1000; i++) {
		CHECK_EQ(window(i)->number, i + 1);
		CHECK_EQ(window(i)->end_corr - window(i)->first_corr, 3);
	}
	stream_leave(s);
}

TEST(orders_that_came_while_no_call_was_made_are_followed_in_turn)
{
	struct stream *s = fake_stepped("", "");

	fake_call(s, 1);
	for (int i = 0; i < 3; i++) {
		fake_order(0);
		fake_order(ORDER_ALL);
	}
	CHECK(fake_call(s, 2));
	CHECK_EQ(fake_count(ROW_window), 3);
	CHECK_EQ(guest->arena->n_windows, 4);
	CHECK_EQ(guest->arena->orders_seen, guest->arena->n_orders);
	stream_leave(s);
}

TEST(one_tracer_can_stop_while_the_window_goes_on)
{
	struct stream *s = fake_stepped("", "");

	CHECK(fake_call(s, 1));
	fake_order(ORDER_NVTX);
	CHECK(!fake_call(s, 2));
	CHECK(capture_nvtx());
	CHECK_EQ(fake_count(ROW_window), 0);
	CHECK(windows_keep(1, 1) && !windows_keep(2, 1));
	fake_order(ORDER_ALL);
	CHECK(fake_call(s, 3));
	CHECK(windows_keep(3, 1) && !windows_keep(2, 1));
	stream_leave(s);
}

TEST(rows_are_kept_in_the_range_that_was_asked_for)
{
	struct stream *s;

	fake_session(8, 8);
	guest->config.capture_range = RANGE_NVTX;
	guest->config.range_end = RANGE_END_STOP;
	snprintf(guest->config.nvtx_capture, sizeof guest->config.nvtx_capture, "train_*");
	s = stream_enter();
	CHECK(!fake_call(s, 1));
	push(s, "setup");
	ranges_pop(s, 0);
	CHECK_EQ(fake_count(ROW_range), 0);
	push(s, "train_7");
	CHECK(fake_call(s, 2));
	push(s, "inner");
	ranges_pop(s, 0);
	ranges_pop(s, 0);
	CHECK(!fake_call(s, 3));
	CHECK_EQ(fake_count(ROW_range), 2);
	CHECK_EQ(fake_count(ROW_window), 1);
	CHECK_EQ(window(0)->cause, 3);
	CHECK_STR(fake_string(window(0)->name), "train_7");
	CHECK_EQ(window(0)->first_corr, 2);
	CHECK_EQ(window(0)->end_corr, 3);
	push(s, "train_8");
	CHECK(!fake_call(s, 4));
	CHECK_STR(guest->arena->names_other, "setup, inner");
	CHECK_EQ(guest->arena->names_seen, WATCHED_CAPTURE);
	stream_leave(s);
}

TEST(rows_are_kept_between_start_and_stop_of_the_profiler)
{
	struct stream *s;

	fake_session(8, 8);
	guest->config.capture_range = RANGE_PROFILER;
	guest->config.range_end = RANGE_END_REPEAT;
	s = stream_enter();
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(!fake_call(s, 10 * i + 1));
		windows_profiler(s, true);
		CHECK(fake_call(s, 10 * i + 2));
		windows_profiler(s, false);
		CHECK(!fake_call(s, 10 * i + 3));
	}
	CHECK_EQ(fake_count(ROW_window), 3);
	CHECK_EQ(window(2)->cause, 2);
	CHECK_EQ(window(2)->first_corr, 22);
	stream_leave(s);
}

TEST(ranges_with_a_matching_name_are_steps_numbered_from_0)
{
	struct stream *s = fake_stepped("=nvtx:step *", "");
	char name[32];

	for (uint32_t i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "step %u", 100 + i);
		push(s, name);
		push(s, "step inner");                          /* inside of a step: none */
		fake_call(s, 10 * i + 1);
		fake_call(s, 10 * i + 2);
		ranges_pop(s, 0);
		ranges_pop(s, 0);
		fake_call(s, 10 * i + 3);
	}
	CHECK_EQ(fake_count(ROW_step), 5);
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "step %u", 100 + i);
		CHECK_EQ(step(i)->number, i);
		CHECK_STR(fake_string(step(i)->name), name);
		CHECK_EQ(step(i)->first_corr, 10 * i + 1);
		CHECK_EQ(step(i)->end_corr, 10 * i + 3);
		CHECK_EQ(step(i)->window, 1);
		CHECK(step(i)->range != 0);
	}
	stream_leave(s);
}

TEST(kinds_of_steps_are_numbered_apart)
{
	struct stream *s = fake_stepped("train=nvtx:train_*\nval=nvtx:val_*", "");

	for (int i = 0; i < 3; i++) {
		push(s, i == 1 ? "val_0" : "train_0");
		ranges_pop(s, 0);
	}
	fake_call(s, 1);
	CHECK_EQ(fake_count(ROW_step), 3);
	CHECK_STR(fake_string(step(1)->kind), "val");
	CHECK_EQ(step(1)->number, 0);
	CHECK_STR(fake_string(step(2)->kind), "train");
	CHECK_EQ(step(2)->number, 1);
	stream_leave(s);
}

TEST(a_mark_ends_a_step_and_begins_the_next)
{
	struct stream *s = fake_stepped("=nvtx:tick", "");
	uint32_t name = intern_text(s, "tick");

	for (uint32_t i = 0; i < 3; i++) {
		windows_mark(s, 1, name);
		fake_call(s, i + 1);
	}
	CHECK_EQ(fake_count(ROW_step), 2);
	CHECK_EQ(step(0)->first_corr, 1);
	CHECK_EQ(step(0)->end_corr, 2);
	CHECK_EQ(step(1)->start, step(0)->start + step(0)->duration);
	stream_leave(s);
}

TEST(the_schedule_keeps_the_active_steps_alone)
{
	struct stream *s = fake_stepped("=nvtx:s", "wait=1,warmup=1,active=2,repeat=1");
	bool kept[6];

	for (uint32_t i = 0; i < 6; i++) {
		push(s, "s");
		kept[i] = fake_call(s, 2 * i + 1);
		ranges_pop(s, 0);
		fake_call(s, 2 * i + 2);
	}
	CHECK(!kept[0] && !kept[1] && kept[2] && kept[3] && !kept[4] && !kept[5]);
	CHECK_EQ(fake_count(ROW_window), 1);
	CHECK_EQ(window(0)->cause, 4);
	CHECK_EQ(window(0)->first_corr, 5);
	CHECK_EQ(window(0)->end_corr, 8);
	CHECK_EQ(step(1)->flags & STEP_WARMUP, STEP_WARMUP);
	CHECK_EQ(step(2)->flags & STEP_WARMUP, 0);
	CHECK_EQ(step(2)->window, 1);
	CHECK_EQ(step(4)->window, 0);
	CHECK_EQ(guest->arena->n_ready, 1);
	stream_leave(s);
}

TEST(the_end_of_the_last_range_asks_for_the_trace_to_be_closed)
{
	struct stream *s;

	fake_session(8, 8);
	guest->config.capture_range = RANGE_PROFILER;
	guest->config.range_end = RANGE_END_STOP_SHUTDOWN;
	s = stream_enter();
	windows_profiler(s, true);
	CHECK_EQ(guest->arena->shutdown, 0);
	windows_profiler(s, false);
	CHECK_EQ(guest->arena->shutdown, 1);
	stream_leave(s);
}

/* Nothing has both an end and no end: what is pushed out has no call in it. */
TEST(what_gives_way_while_no_call_comes_is_what_had_none)
{
	struct stream *s = fake_stepped("=nvtx:s", "");

	push(s, "s");
	fake_call(s, 10);
	ranges_pop(s, 0);
	for (unsigned i = 0; i < 2 * MAX_OPEN_STEPS; i++) {
		push(s, "s");
		ranges_pop(s, 0);
	}
	fake_call(s, 20);
	CHECK_EQ(fake_count(ROW_step), 2 * MAX_OPEN_STEPS + 1);
	for (size_t i = 0; i < fake_count(ROW_step); i++) {
		CHECK_EQ(step(i)->first_corr, step(i)->number ? 0 : 10);
		CHECK_EQ(step(i)->end_corr, step(i)->number ? 0 : 20);
	}
	stream_leave(s);
}

TEST(windows_without_a_call_do_not_push_out_one_that_had_some)
{
	struct stream *s = fake_stepped("", "");

	fake_order(0);
	fake_call(s, 5);
	fake_order(ORDER_ALL);
	fake_call(s, 6);
	for (unsigned i = 0; i < 2 * MAX_OPEN_WINDOWS; i++) {
		fake_order(0);
		gate_now();
		fake_order(ORDER_ALL);
		gate_now();
	}
	fake_order(0);
	fake_call(s, 7);
	CHECK_EQ(fake_count(ROW_window), 2 * MAX_OPEN_WINDOWS + 2);
	for (size_t i = 1; i < fake_count(ROW_window); i++) {
		CHECK_EQ(window(i)->first_corr, window(i)->number == 2 ? 6 : 0);
		CHECK_EQ(window(i)->end_corr, window(i)->number == 2 ? 7 : 0);
	}
	stream_leave(s);
}

TEST(steps_that_find_no_place_do_not_hold_the_schedule_up)
{
	struct stream *s = fake_stepped("=nvtx:s", "active=80,repeat=1");
	uint64_t started[70];

	for (unsigned i = 0; i < 70; i++) {
		struct range_what w = { .name = intern_text(s, "s"), .watched = 1 };

		started[i] = ranges_start(s, &w);
	}
	for (unsigned i = 0; i < 70; i++)
		ranges_end(s, started[i]);
	CHECK_EQ(guest->arena->drops[ROW_step].count, 70 - MAX_OPEN_STEPS);
	for (unsigned i = 0; i < 80; i++) {
		push(s, "s");
		ranges_pop(s, 0);
	}
	CHECK_EQ(guest->arena->n_ready, 1);
	CHECK(!fake_call(s, 1));
	stream_leave(s);
}

TEST(orders_beyond_those_that_are_kept_end_the_window_all_the_same)
{
	struct stream *s = fake_stepped("", "");
	unsigned over = 0;

	fake_call(s, 1);
	for (unsigned i = 0; i < 2 * ORDERS; i++) {
		fake_order(0);
		fake_order(ORDER_ALL);
	}
	CHECK(fake_call(s, 2));
	CHECK(guest->arena->n_windows > 1);
	for (size_t i = 0; i < fake_count(ROW_window); i++)
		over += window(i)->number == 1 && window(i)->end_corr == 2;
	CHECK_EQ(over, 1);
	stream_leave(s);
}

TEST(a_window_may_last_for_more_calls_than_half_of_the_ids)
{
	struct stream *s = fake_stepped("", "");
	const int64_t minute = 60000000000, now = clock_ns(CLOCK_REALTIME);
	uint64_t corr = 10;

	fake_order(0);
	fake_call(s, 9);
	fake_order(ORDER_ALL);
	fake_call(s, (uint32_t)corr);
	for (int i = 0; i < 100; i++, corr += 1u << 26)         /* beyond 2^32 */
		CHECK(windows_keep((uint32_t)corr, now + i * minute));
	fake_order_at(0, now + 100 * minute);
	fake_call(s, (uint32_t)corr);
	CHECK(windows_keep((uint32_t)corr - 1, now + 100 * minute + 1));
	CHECK(!windows_keep((uint32_t)corr, now + 100 * minute + 1));
	stream_leave(s);
}

TEST(ids_that_come_again_are_of_no_window_that_is_long_over)
{
	struct stream *s = fake_stepped("", "");
	const int64_t now = clock_ns(CLOCK_REALTIME), hour = 3600000000000;

	fake_call(s, 1);
	fake_order_at(0, now);
	fake_call(s, 100);
	CHECK(windows_keep(99, now + 1000));            /* late */
	CHECK(!windows_keep(100, now + 1000));
	CHECK(!windows_keep(0x80000100, now + hour));
	CHECK(!windows_keep(50, now + 2 * hour));
	stream_leave(s);
}

TEST(what_a_window_leaves_is_fetched_where_nothing_fetches)
{
	struct stream *s = fake_stepped("", "");

	fake_call(s, 1);
	fake_order(0);
	gate_now();
	CHECK_EQ(guest->arena->n_closed, 1);
	CHECK_EQ(guest->arena->n_flushed, 1);           /* CUPTI has never had anything: its thread does not run */
	stream_leave(s);
}

struct first {
	pthread_barrier_t *together;
	bool wanted;
};

static void *first_look(void *arg)
{
	struct first *f = arg;
	struct stream *s;

	pthread_barrier_wait(f->together);
	s = stream_enter();
	f->wanted = capture_nvtx();
	stream_leave(s);
	return NULL;
}

TEST(threads_that_look_first_all_at_once_find_what_is_wanted)
{
	enum { N = 8 };
	int64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (int round = 0; round < 300; round++) {
		struct first looks[N];
		pthread_barrier_t together;
		pthread_t threads[N];

		fake_session(16, 1);
		pthread_barrier_init(&together, NULL, N);
		for (int i = 0; i < N; i++) {
			looks[i] = (struct first){ .together = &together };
			pthread_create(&threads[i], NULL, first_look, &looks[i]);
		}
		for (int i = 0; i < N; i++) {
			pthread_join(threads[i], NULL);
			CHECK(looks[i].wanted);
		}
		pthread_barrier_destroy(&together);
		munmap(guest->arena, guest->arena->size);
	}
	/* Each wait for a lost lock spins for 0.2 s.  CPU time, because other programs may keep the threads waiting. */
	CHECK(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin < 30000000000);
}

TEST(a_row_that_comes_after_hundreds_of_later_windows_is_counted)
{
	struct stream *s = fake_stepped("", "");
	uint32_t corr = 10;

	for (int i = 0; i < 300; i++) {
		CHECK(fake_call(s, corr++));
		fake_order(0);
		CHECK(!fake_call(s, corr++));
		fake_order(ORDER_ALL);
	}
	CHECK(fake_call(s, corr));
	CHECK(windows_keep(corr, 5));
	CHECK(!windows_keep(corr - 1, 5));
	CHECK_EQ(guest->arena->health[HEALTH_window_forgotten].count, 0);
	CHECK(!windows_keep(10, 5));
	CHECK_EQ(guest->arena->health[HEALTH_window_forgotten].count, 1);
	stream_leave(s);
}
