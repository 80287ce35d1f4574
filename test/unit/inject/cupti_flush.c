#include "inject/cupti_flush.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/cupti_activity.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_client.h"
#include "inject/cupti_raw.h"
#include "inject/windows.h"
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
		cupti_buffers_return(b[2]);
		cupti_buffers_request(&b[2], &size, &max);
	}
	CHECK(cupti_flush_wait(0));
	CHECK(cupti_fake_state.flushes <= 4 + (clock_ns(CLOCK_MONOTONIC) - begin) / 20000000);
	for (int i = 0; i < 3; i++)
		cupti_buffers_return(b[i]);
	end_flusher();
}

TEST(each_thread_has_a_buffer_only_where_there_are_enough)
{
	cupti_fake(130001);
	CHECK(!cupti_buffers_for_each_thread());        /* 4 */
	cupti_buffers_forget();
	cupti_buffers_init(63);
	CHECK(!cupti_buffers_for_each_thread());
	cupti_buffers_forget();
	cupti_buffers_init(64);
	CHECK(cupti_buffers_for_each_thread());
	cupti_buffers_forget();
}

TEST(without_a_flush_thread_nobody_waits)
{
	cupti_fake(130001);
	cupti_flush_forget();
	CHECK(!cupti_flush_wait(0));
	CHECK(!cupti_flush_window());
	cupti_flush_soon();
	CHECK_EQ(guest->arena->health[HEALTH_flush_timeout].count, 0);
	CHECK_EQ(guest->arena->health[HEALTH_window_late].count, 0);
}

TEST(buffers_are_distinct_aligned_and_come_back)
{
	uint8_t *b[5];
	size_t size, max;

	cupti_fake(130001);
	for (int i = 0; i < 5; i++)
		cupti_buffers_request(&b[i], &size, &max);
	for (int i = 0; i < 4; i++) {
		CHECK((uintptr_t)b[i] % 8 == 0 && cupti_buffers_has(b[i]));
		for (int k = 0; k < i; k++)
			CHECK(llabs(b[i] - b[k]) >= CUPTI_BUFFER_SIZE);
	}
	CHECK(b[4] == NULL && size == 0);
	CHECK_EQ(guest->arena->health[HEALTH_buffers_full].count, 1);
	CHECK_EQ(cupti_buffers_out(), 4);
	cupti_buffers_return(b[2]);
	cupti_buffers_request(&b[4], &size, &max);
	CHECK(b[4] == b[2]);
	for (int i = 0; i < 4; i++)
		cupti_buffers_return(b[i]);
	CHECK_EQ(cupti_buffers_out(), 0);
}

TEST(an_old_cupti_always_gets_a_buffer)
{
	enum { POOL = 4, SMALL = 64, N = POOL + SMALL };
	uint8_t *b[N], *last, *again;
	size_t size, max;

	cupti_fake(22);
	for (int i = 0; i < N; i++) {
		cupti_buffers_request(&b[i], &size, &max);
		CHECK(b[i] && size >= 4096 && (uintptr_t)b[i] % 8 == 0 && cupti_buffers_has(b[i]));
		for (int k = 0; k < i; k++)
			CHECK(b[i] != b[k]);
	}
	CHECK_EQ(guest->arena->health[HEALTH_buffers_full].count, 0);
	CHECK_EQ(cupti_buffers_out(), N);
	cupti_buffers_request(&last, &size, &max);
	CHECK(last && size >= 4096 && !cupti_buffers_has(last));
	CHECK_EQ(guest->arena->health[HEALTH_buffers_full].count, 1);
	CHECK(cupti_buffers_discard(last));             /* it had it alone */
	cupti_buffers_request(&last, &size, &max);
	cupti_buffers_request(&again, &size, &max);
	CHECK(last == again && !cupti_buffers_discard(last) && !cupti_buffers_discard(again));
	cupti_buffers_return(b[40]);
	cupti_buffers_request(&again, &size, &max);
	CHECK(again == b[40]);
}

static void *use_buffers(void *arg)
{
	uint64_t me = (uintptr_t)arg, twice = 0;

	for (int i = 0; i < 20000; i++) {
		uint8_t *b;
		size_t size, max;

		cupti_buffers_request(&b, &size, &max);
		if (!b)
			continue;
		for (int k = 0; k < 8; k++)
			put64(b, (unsigned)(size / 8 * (size_t)k), me);
		for (int k = 0; k < 8; k++)
			twice += at64(b, (unsigned)(size / 8 * (size_t)k)) != me;
		cupti_buffers_return(b);
	}
	return (void *)(uintptr_t)twice;
}

TEST(a_buffer_is_given_to_one_thread_at_a_time)
{
	pthread_t threads[4];
	void *twice;

	cupti_fake(130001);
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, use_buffers, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &twice);
		CHECK_EQ((uintptr_t)twice, 0);
	}
	CHECK_EQ(cupti_buffers_out(), 0);
}

TEST(raw_buffers_are_kept_with_their_index_and_strings)
{
	char folder[] = "/tmp/gprof-raw-XXXXXX", path[64];
	struct raw_record index[2];
	struct raw_string string;
	struct raw_head head;
	char name[16] = "";
	uint8_t *r;
	int fd;

	cupti_fake(130001);
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	strcpy(guest->config.record_raw, folder);
	r = cupti_fake_record(10, 216);
	put64(r, 104, (uintptr_t)"_Z4spinv");
	put64(cupti_fake_record(10, 216), 104, at64(r, 104));
	cupti_fake_state.dropped = 3;
	cupti_fake_deliver();
	snprintf(path, sizeof path, "%s/%d.gpraw", folder, getpid());
	fd = open(path, O_RDONLY);
	CHECK(read(fd, &head, sizeof head) == sizeof head);
	CHECK(memcmp(head.magic, "GPRAWBUF", 8) == 0);
	CHECK_EQ(head.version, 130001);
	CHECK_EQ(head.valid, 432);
	CHECK_EQ(head.size, CUPTI_BUFFER_SIZE);
	CHECK_EQ(head.dropped, 3);
	CHECK_EQ(head.n_records, 2);
	CHECK_EQ(head.n_strings, 1);
	CHECK(head.requested && head.requested <= head.completed);
	CHECK_EQ(head.length, lseek(fd, 0, SEEK_END));
	CHECK(pread(fd, index, sizeof index, sizeof head + 432) == sizeof index);
	CHECK_EQ(index[1].offset, 216);
	CHECK_EQ(index[1].size, 216);
	CHECK_EQ(index[1].kind, 10);
	CHECK(pread(fd, &string, sizeof string, sizeof head + 432 + sizeof index) == sizeof string);
	CHECK_EQ(string.length, 8);
	CHECK(pread(fd, name, 8, sizeof head + 432 + sizeof index + sizeof string) == 8);
	CHECK_STR(name, "_Z4spinv");
	close(fd);
	unlink(path);
	rmdir(folder);
	CHECK_EQ(guest->arena->health[HEALTH_raw_failed].count, 0);
}

TEST(a_recording_names_no_folder_of_the_user_and_says_how_the_walk_ended)
{
	static const char path[] = "/home/somebody/.nv/ComputeCache";
	char folder[] = "/tmp/gprof-raw-XXXXXX", file[64], all[1024];
	struct raw_head head;
	ssize_t n;
	int fd;

	cupti_fake(130001);
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	strcpy(guest->config.record_raw, folder);
	put64(cupti_fake_record(52, 72), 56, (uintptr_t)path);
	cupti_fake_state.end_result = 21;
	cupti_fake_deliver();
	snprintf(file, sizeof file, "%s/%d.gpraw", folder, getpid());
	fd = open(file, O_RDONLY);
	n = read(fd, all, sizeof all);
	close(fd);
	unlink(file);
	rmdir(folder);
	if (!CHECK(n > (ssize_t)sizeof head))
		return;
	memcpy(&head, all, sizeof head);
	CHECK_EQ(head.end, 21);
	CHECK(memmem(all, (size_t)n, "ComputeCache", 12) != NULL);
	CHECK(memmem(all, (size_t)n, "somebody", 8) == NULL);
}

TEST(a_raw_folder_that_is_not_there_is_counted_and_rows_go_on)
{
	cupti_fake(130001);
	strcpy(guest->config.record_raw, "/nonexistent");
	put64(cupti_fake_record(10, 216), 16, 5000);
	cupti_fake_deliver();
	CHECK_EQ(guest->arena->health[HEALTH_raw_failed].count, 1);
	CHECK_EQ(fake_count(ROW_kernel), 1);
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

TEST(a_child_does_not_wake_the_cupti_of_its_parent)
{
	cupti_fake(130001);
	windows_sleeper(waking);
	cupti_module.forked();
	fake_session(8, 8);                             /* its own; recorded from the start on */
	CHECK(capture_on());
	CHECK_EQ(woken, 0);
	windows_sleeper(NULL);
	tracer.parent_had_cuda = 0;
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
	if (CHECK_EQ(pthread_create(&profiler, NULL, profiler_begins, NULL), 0))
		for (int i = 0; i < 50 && !__atomic_load_n(&done, __ATOMIC_ACQUIRE); i++)
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
