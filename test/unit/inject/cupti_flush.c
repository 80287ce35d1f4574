#include "inject/cupti/cupti_flush.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/capture/windows.h"
#include "inject/client/cupti_client.h"
#include "inject/core/self.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_buffers.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

/* One thread for all tests here; it sleeps but for what it is asked. */
static void start(void)
{
	cupti_fake(130001);
	guest->config.flush_ms = 600000;
	cupti_flush_start();
	CHECK(cupti_flush_wait(0));
	cupti_fake_state.flushes = 0;
}

static int n_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2;                     /* . and .. */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* As after a fork, but that here the thread, which hangs in a flush, must be waited for. */
static void end_flusher(void)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);
	int with = n_threads();         /* an emulator may have threads of its own */

	cupti_flush_forget();           /* first: let go before, it might go to sleep again */
	__atomic_store_n(&cupti_fake_state.hang, 0, __ATOMIC_RELEASE);
	while (n_threads() >= with && CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 10000000000))
		usleep(1000);
	cupti_flush_forget();
}

TEST(the_end_of_a_process_flushes_what_cupti_holds_once)
{
	start();
	tracer.called = 1;
	cupti_module.stop();
	CHECK_EQ(cupti_fake_state.forced, 1);
	CHECK_EQ(guest->arena->life, LIFE_NEW);         /* DRAINING only after RUNNING */
	cupti_module.stop();
	CHECK_EQ(cupti_fake_state.forced, 1);
	tracer.called = 1;                              /* an exit handler of the program launched something more */
	cupti_module.stop();
	CHECK_EQ(cupti_fake_state.forced, 2);
	end_flusher();
}

TEST(a_flush_that_hangs_lets_the_program_go_after_two_seconds)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC), waited;

	start();
	cupti_fake_state.hang = 1;
	tracer.called = 1;
	cupti_module.stop();
	waited = clock_ns(CLOCK_MONOTONIC) - begin;
	CHECK(waited >= 1900000000 && waited < 3500000000);
	CHECK_EQ(guest->arena->health[HEALTH_flush_timeout].count, 1);
	begin = clock_ns(CLOCK_MONOTONIC);
	cupti_module.stop();
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 1000000000);
	CHECK_EQ(guest->arena->health[HEALTH_flush_timeout].count, 1);
	end_flusher();
}

TEST(when_the_recorded_time_ends_what_cupti_has_is_fetched)
{
	int64_t begin;

	start();
	tracer.called = 1;
	fake_order(0);                                  /* and no call comes */
	begin = clock_ns(CLOCK_MONOTONIC);
	while (!__atomic_load_n(&cupti_fake_state.flushes, __ATOMIC_ACQUIRE) &&
	       CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 10000000000))
		usleep(1000);
	CHECK_EQ(cupti_fake_state.forced, 0);           /* it would lose what still runs */
	while (guest->arena->n_flushed != 1 && CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 10000000000))
		usleep(1000);
	end_flusher();
}

TEST(a_window_that_ends_is_fetched_and_never_forced)
{
	start();
	tracer.called = 1;
	CHECK(cupti_flush_window());
	CHECK_EQ(cupti_fake_state.flushes, 1);
	CHECK_EQ(cupti_fake_state.forced, 0);
	CHECK_EQ(guest->arena->health[HEALTH_window_late].count, 0);
	end_flusher();
}

TEST(the_end_of_a_window_is_waited_for_half_a_second_at_most_and_once)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC), waited;

	start();
	cupti_fake_state.hang = 1;
	CHECK(!cupti_flush_window());
	waited = clock_ns(CLOCK_MONOTONIC) - begin;
	CHECK(waited >= 450000000 && waited < 1800000000);
	CHECK_EQ(guest->arena->health[HEALTH_window_late].count, 1);
	begin = clock_ns(CLOCK_MONOTONIC);
	CHECK(!cupti_flush_window());
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 400000000);
	CHECK_EQ(guest->arena->health[HEALTH_window_late].count, 1);
	begin = clock_ns(CLOCK_MONOTONIC);
	CHECK(!cupti_flush_wait(0));                    /* the end of the process waits as ever */
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= 1900000000);
	end_flusher();
}

static bool ended_by_itself;

static int end_window_inside(uint32_t flag)
{
	static __thread int depth;

	if (!flag && !depth++)
		ended_by_itself = cupti_flush_window();
	__atomic_fetch_add(&cupti_fake_state.flushes, 1, __ATOMIC_RELAXED);
	depth--;
	return RESULT_OK;
}

TEST(the_thread_that_flushes_may_end_a_window)
{
	start();
	tracer.fn.ActivityFlushAll = end_window_inside;
	CHECK(cupti_flush_wait(0));
	CHECK(ended_by_itself);
	CHECK_EQ(cupti_fake_state.flushes, 2);
	end_flusher();
}

TEST(a_flush_comes_in_time_when_buffers_run_low)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);
	uint8_t *b[4];
	size_t size, max;

	start();
	for (int i = 0; i < 2; i++)
		cupti_buffers_request(&b[i], &size, &max);
	CHECK(cupti_flush_wait(0));
	CHECK_EQ(cupti_fake_state.flushes, 1);          /* that one */
	cupti_buffers_request(&b[2], &size, &max);
	while (__atomic_load_n(&cupti_fake_state.flushes, __ATOMIC_ACQUIRE) < 2 &&
	       CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 10000000000))
		usleep(1000);
	begin = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 1000; i++) {                /* to and fro about the mark: no flood of flushes */
		cupti_buffers_return(b[2], 64);
		cupti_buffers_request(&b[2], &size, &max);
	}
	CHECK(cupti_flush_wait(0));
	CHECK(cupti_fake_state.flushes <= 4 + (clock_ns(CLOCK_MONOTONIC) - begin) / 20000000);
	for (int i = 0; i < 3; i++)
		cupti_buffers_return(b[i], 64);
	end_flusher();
}

TEST(without_a_flush_thread_nobody_waits)
{
	cupti_fake(130001);
	cupti_flush_forget();
	CHECK(!cupti_flush_wait(0));
	CHECK(!cupti_flush_window());
	cupti_flush_hurry(FLUSH_NOW);
	CHECK_EQ(guest->arena->health[HEALTH_flush_timeout].count, 0);
	CHECK_EQ(guest->arena->health[HEALTH_window_late].count, 0);
}

/* Threads that live for one launch each take a buffer with them: a request that comes right after a flush is not forgotten. */
TEST(a_flush_out_of_turn_comes_whenever_it_was_asked_for)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	start();
	for (unsigned n = 1; n <= 5; n++) {
		cupti_flush_hurry(n & 1 ? FLUSH_SOON : FLUSH_NOW);
		while (__atomic_load_n(&cupti_fake_state.flushes, __ATOMIC_ACQUIRE) < n && CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 10000000000))
			usleep(500);
	}
	end_flusher();
}

static void until(const uint32_t *word, uint32_t value)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value && CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 5000000000))
		usleep(1000);
}

TEST(nobody_waits_for_a_cupti_that_has_failed)
{
	start();
	tracer.state = TRACER_DEAD;
	fake_order(0);
	until(&guest->arena->n_flushed, 1);
	CHECK_EQ(cupti_fake_state.flushes, 0);
	end_flusher();
}

static uint32_t disabled, enabled, done;

static int disable_kind(int kind)
{
	__atomic_fetch_or(&disabled, 1u << kind, __ATOMIC_RELEASE);
	__atomic_fetch_and(&enabled, ~(1u << kind), __ATOMIC_RELEASE);
	return RESULT_OK;
}

static int enable_kind(int kind)
{
	__atomic_fetch_or(&enabled, 1u << kind, __ATOMIC_RELEASE);
	return RESULT_OK;
}

TEST(cupti_rests_when_recording_is_over_though_it_had_stopped_before)
{
	struct arena *a;

	start();
	tracer.version = 130101;
	tracer.fn.ActivityEnable = enable_kind;
	tracer.fn.ActivityDisable = disable_kind;
	cupti_client_forget();
	cupti_activity_forget();
	disabled = 0;
	cupti_activity_ask(KIND_MEMCPY, "MEMCPY");
	a = guest->arena;
	fake_order(0);
	until(&a->n_flushed, 1);
	CHECK_EQ(disabled, 0);                          /* it may be started again */
	a->orders[a->n_orders % ORDERS] = (struct order){ .over = 1 };
	__atomic_store_n(&a->n_orders, a->n_orders + 1, __ATOMIC_RELEASE);
	until(&disabled, 1u << KIND_MEMCPY);
	end_flusher();
	cupti_activity_forget();
}

static unsigned woken;

static void waking(void)
{
	woken++;
}

/* Starts and stops recording while CUPTI sleeps, as gprof-ctl does: the program's own calls must follow. */
static void orders_are_followed(void)
{
	uint32_t closed = guest->arena->n_closed;

	windows_sleeper(waking);
	woken = 0;
	fake_order(0);
	capture_on();
	fake_order(ORDER_CUDA);
	CHECK(capture_on());
	CHECK_EQ(woken, 1);
	fake_order(0);
	CHECK(!capture_on());
	CHECK(guest->arena->n_closed > closed);
	CHECK_EQ(guest->arena->n_flushed, guest->arena->n_closed);
	windows_sleeper(NULL);
}

static int ends_windows_without_gettid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof code / sizeof *code, code };

	self_init();
	start();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return 0;               /* not possible here */
	cupti_flush_wake();
	return cupti_flush_window() ? 0 : 1;
}

TEST(a_window_begins_and_ends_in_a_thread_that_may_not_ask_for_its_id)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(ends_windows_without_gettid());
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

TEST(orders_are_followed_when_a_filter_has_ended_the_flush_thread)
{
	start();
	cupti_flush_end();
	CHECK(!cupti_flush_wait(0));    /* there is no thread to wait for */
	orders_are_followed();
	cupti_flush_forget();
}

TEST(orders_are_followed_when_the_flush_thread_hangs_and_is_to_end)
{
	int64_t begin;

	start();
	cupti_fake_state.hang = 1;
	tracer.called = 1;
	begin = clock_ns(CLOCK_MONOTONIC);
	cupti_flush_end();
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 2500000000);
	orders_are_followed();
	begin = clock_ns(CLOCK_MONOTONIC);
	CHECK(!cupti_flush_wait(0));                    /* it would never be answered */
	CHECK(!cupti_flush_window());
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 400000000);
	end_flusher();
	CHECK_EQ(guest->arena->n_flushed, guest->arena->n_closed);
}

TEST(a_child_does_not_wake_the_cupti_of_its_parent)
{
	cupti_fake(130001);
	woken = 0;
	windows_sleeper(waking);
	cupti_module.forked();
	fake_session(8, 8);                             /* its own; recorded from the start on */
	CHECK(capture_on());
	CHECK_EQ(woken, 0);
	windows_sleeper(NULL);
	tracer.parent_had_cuda = 0;
}

TEST(nothing_is_switched_inside_a_buffer_callback)
{
	cupti_fake(130101);
	fake_order(0);
	capture_on();
	woken = 0;
	windows_sleeper(waking);
	put32(cupti_fake_record(KIND_OVERHEAD, 56), 0, KIND_OVERHEAD);
	fake_order(ORDER_CUDA);                         /* comes while CUPTI has the buffer */
	cupti_fake_deliver();
	CHECK_EQ(woken, 0);
	CHECK(capture_on());                            /* the next call, or our thread, follows it */
	CHECK_EQ(woken, 1);
	windows_sleeper(NULL);
}

TEST(before_the_first_context_nothing_is_woken)
{
	struct cupti_call_data call = { .site = SITE_ENTER, .corr = 1, .data = &(uint64_t){ 0 } };

	cupti_fake(130101);
	cupti_client_forget();
	cupti_activity_forget();
	cupti_flush_forget();
	tracer.ready = 0;
	tracer.fn.ActivityEnable = enable_kind;
	tracer.fn.ActivityDisable = disable_kind;
	cupti_activity_sleep();
	cupti_activity_ask(KIND_MEMCPY, "MEMCPY");
	enabled = 0;
	cupti_flush_wake();
	CHECK_EQ(enabled, 0);
	cupti_callback(NULL, DOMAIN_DRIVER, 1, &call);  /* a call that needs no context */
	CHECK_EQ(enabled, 0);
	tracer.ready = 1;
	cupti_callback(NULL, DOMAIN_DRIVER, 1, &call);
	CHECK_EQ(enabled, 1u << KIND_MEMCPY);
	cupti_activity_forget();
}

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = NULL;
	*size = *most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

static void *profiler_begins(void *arg)
{
	cupti_client_kind(KIND_ON, KIND_MEMSET, NULL);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	return arg;
}

static pthread_t profiler;

/* The program's profiler comes while this kind is being switched on. */
static int enable_slowly(int kind)
{
	tracer.fn.ActivityEnable = enable_kind;
	int64_t end = clock_ns(CLOCK_MONOTONIC) + 50000000;     /* of the 2 s that it waits at most; sleeps alone may take those on a busy machine */

	if (CHECK_EQ(pthread_create(&profiler, NULL, profiler_begins, NULL), 0))
		while (clock_ns(CLOCK_MONOTONIC) < end && !__atomic_load_n(&done, __ATOMIC_ACQUIRE))
			usleep(1000);
	return enable_kind(kind);
}

static int set_thread_ids(int type)
{
	(void)type;
	return RESULT_OK;
}

TEST(what_wakes_is_off_again_for_a_profiler_that_comes_meanwhile)
{
	cupti_fake(130001);
	cupti_client_forget();
	cupti_activity_forget();
	cupti_flush_forget();
	guest->config.cupti_mode = CUPTI_YIELD;
	cupti_client.requested = requested;
	cupti_client.completed = completed;
	tracer.fn.SetThreadIdType = set_thread_ids;
	tracer.fn.ActivityEnable = enable_slowly;
	tracer.fn.ActivityDisable = disable_kind;
	cupti_activity_sleep();
	cupti_activity_ask(KIND_MEMCPY, "MEMCPY");
	done = enabled = 0;
	cupti_flush_wake();
	pthread_join(profiler, NULL);
	CHECK_EQ(enabled, 1u << KIND_MEMSET);
	cupti_client_forget();
	cupti_activity_forget();
}
