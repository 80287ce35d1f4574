/* Activity buffers given to CUPTI are distinct, zeroed, and used by one thread at a time. */
#include "inject/cupti/cupti_buffers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

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
	cupti_buffers_return(b[2], 64);
	cupti_buffers_request(&b[4], &size, &max);
	CHECK(b[4] == b[2]);
	for (int i = 0; i < 4; i++)
		cupti_buffers_return(b[i], 64);
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
	cupti_buffers_return(b[40], 64);
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
		cupti_buffers_return(b, 64);
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

TEST(a_buffer_is_zero_whenever_it_is_handed_out)
{
	enum { N = 24 };                /* more than keep their pages */
	const size_t written[] = { 8, 5000, 300000, CUPTI_BUFFER_SIZE };
	uint8_t *b[N];
	size_t size, max, dirty = 0;

	cupti_fake(130001);
	cupti_buffers_forget();
	cupti_buffers_init(N);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			cupti_buffers_request(&b[i], &size, &max);
			for (size_t k = 0; k < size; k += 8)
				dirty += at64(b[i], (unsigned)k) != 0;
		}
		for (int i = 0; i < N; i++) {
			memset(b[i], 0xa5, written[i % 4]);
			cupti_buffers_return(b[i], written[i % 4]);
		}
	}
	CHECK_EQ(dirty, 0);
	cupti_buffers_forget();
}
