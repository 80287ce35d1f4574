/* Records of the program's profiler that arrive at the end of the process are stored by any number of threads. */
#include "inject/client/cupti_late.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

#define THREADS 4
#define EACH    40000u

struct late {
	uint32_t thread, number;
	uint8_t more[40];
};

static uint32_t seen[THREADS];
static uint32_t wrong;
static uint64_t bytes;

static void take(void *arg, const uint8_t *record, size_t size)
{
	struct late r;

	memcpy(&r, record, size < sizeof r ? size : sizeof r);
	/* Each record is whole, and each thread's are in order. */
	if (arg != &seen || size != sizeof r - r.number % 3 || r.thread >= THREADS || r.number != seen[r.thread])
		wrong++;
	else
		seen[r.thread]++;
}

static void *store(void *arg)
{
	struct late r = { .thread = (uint32_t)(uintptr_t)arg };

	for (r.number = 0; r.number < EACH; r.number++)
		if (!cupti_late_keep((const uint8_t *)&r, sizeof r - r.number % 3))
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

static pthread_t threads[THREADS];

static void start(int from, int to)
{
	for (int i = from; i < to; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, store, (void *)(uintptr_t)i), 0);
}

static void begin(void)
{
	fake_session(8, 8);
	cupti_late_forget();
	memset(seen, 0, sizeof seen);
	wrong = 0;
}

static void all_is_there(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cupti_late_give(take, &seen);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(seen[i], EACH);
	CHECK_EQ(wrong, 0);
	cupti_late_forget();
}

TEST(late_records_that_threads_store_at_once_are_all_there_while_another_one_takes_them)
{
	begin();
	start(0, THREADS);
	for (int i = 0; i < 100; i++)
		cupti_late_give(take, &seen);
	all_is_there();
}

/* Longer than a lock is waited for: LOCK_WAIT_NS. */
static void hold_up(int number)
{
	(void)number;
	usleep(250000);
}

TEST(a_thread_that_is_held_up_while_it_stores_a_late_record_damages_no_other)
{
	signal(SIGUSR1, hold_up);
	for (int round = 0; round < 6; round++) {
		begin();
		start(0, 1);
		usleep(200 + 50 * round);
		pthread_kill(threads[0], SIGUSR1);
		start(1, THREADS);
		all_is_there();
	}
	signal(SIGUSR1, SIG_DFL);
}

static void weigh(void *arg, const uint8_t *record, size_t size)
{
	(void)arg, (void)record;
	bytes += size;
}

TEST(no_more_than_64_mib_of_late_records_are_stored)
{
	static const uint8_t record[65536];
	unsigned n = 0;

	fake_session(8, 8);
	cupti_late_forget();
	bytes = 0;
	while (n < 2000 && cupti_late_keep(record, sizeof record))
		n++;
	CHECK(n > 1000 && n <= 1024);
	CHECK(!cupti_late_keep(record, sizeof record));
	cupti_late_give(weigh, NULL);
	CHECK_EQ(bytes, n * sizeof record);
	cupti_late_forget();
}
