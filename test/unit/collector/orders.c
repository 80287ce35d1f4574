#include "collector/orders.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "test/unit/test.h"
#include "trace/clock.h"

struct fixture {
	struct config config;
	struct tree tree;
	struct orders orders;
	struct connected_guest guest;
	struct tree_process process, *live[1];
	int turn;
};

/* One process with an arena. */
static void set_up(struct fixture *f, uint64_t delay_ms, uint64_t duration_ms)
{
	*f = (struct fixture){ 0 };
	config_init(&f->config);
	f->config.delay_ms = delay_ms;
	f->config.duration_ms = duration_ms;
	f->live[0] = &f->process;
	f->process.guest = &f->guest;
	f->tree = (struct tree){ .config = &f->config, .live = f->live, .n_live = 1 };
	f->turn = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	CHECK_EQ(arena_new(&f->guest.view, "/nowhere", 8 << 20, 1, CLOCK_MONO, &f->guest.capture, NULL), 0);
	orders_begin(&f->orders, &f->tree, f->turn, clock_ns(CLOCK_MONOTONIC));
}

static void tear_down(struct fixture *f)
{
	arena_release(&f->guest.view);
	close(f->turn);
}

/* Until the timer of the settings has gone off. */
static void await_turn(struct fixture *f)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);
	uint64_t n;

	while (read(f->turn, &n, sizeof n) != (ssize_t)sizeof n && CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 5000000000))
		usleep(1000);
	orders_turn(&f->orders);
}

TEST(the_delay_is_kept_though_one_process_was_started_before)
{
	struct fixture f;

	set_up(&f, 50, 0);
	CHECK_EQ(f.orders.mask, 0);
	CHECK(orders_change(&f.orders, &f.process, ORDER_ALL, 0));
	CHECK_EQ(orders_of(&f.orders, &f.process), ORDER_ALL);
	CHECK_EQ(f.orders.mask, 0);
	await_turn(&f);
	CHECK_EQ(f.orders.mask, ORDER_ALL);
	tear_down(&f);
}

TEST(a_start_of_all_takes_the_place_of_the_delay)
{
	struct fixture f;

	set_up(&f, 3600000, 50);
	CHECK(orders_change(&f.orders, NULL, ORDER_ALL, 0));
	CHECK_EQ(f.orders.mask, ORDER_ALL);
	await_turn(&f);                         /* the duration counts from there */
	CHECK(f.orders.over);
	CHECK_EQ(f.orders.mask, 0);
	tear_down(&f);
}

TEST(the_duration_counts_from_the_first_process_that_was_started)
{
	struct fixture f;

	set_up(&f, 3600000, 50);
	CHECK(orders_change(&f.orders, &f.process, ORDER_ALL, 0));
	await_turn(&f);
	CHECK(f.orders.over);
	tear_down(&f);
}
