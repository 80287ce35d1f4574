/* Which records belong to the sessions of the program's own profiler. */
#include "inject/client/cupti_window.h"

#include <string.h>

#include "inject/client/cupti_clock.h"
#include "inject/cupti/cupti_activity.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define KERNEL_SIZE 216u

static const uint8_t *kernel_of(uint32_t corr, uint64_t start)
{
	static uint8_t r[KERNEL_SIZE];

	memset(r, 0, sizeof r);
	put32(r, 0, KIND_CONCURRENT_KERNEL);
	put64(r, KERNEL_START, start);
	put64(r, KERNEL_END, start + 1);
	put32(r, KERNEL_CORR, corr);
	return r;
}

static bool has(uint32_t corr)
{
	return cupti_window_has(kernel_of(corr, 5000), KERNEL_SIZE);
}

TEST(a_record_belongs_to_the_profiler_if_its_call_began_while_the_kind_was_enabled)
{
	cupti_fake(130001);
	cupti_window_forget();
	CHECK(!has(10));
	cupti_window_open(KIND_CONCURRENT_KERNEL, 1000);
	CHECK(!has(10));                        /* no call has begun since: whatever comes is older */
	cupti_window_begun(20);
	CHECK(!has(19));
	CHECK(has(20));
	CHECK(has(21));
	cupti_window_close(KIND_CONCURRENT_KERNEL, 2000);
	CHECK(has(30));                         /* nor has one since it was disabled */
	cupti_window_begun(31);
	CHECK(has(30));
	CHECK(!has(31));
}

TEST(records_that_come_along_with_others_are_the_profilers_as_well)
{
	static uint8_t event[56], child[144];

	put32(event, 0, KIND_CUDA_EVENT);
	put32(event, 4, 20);
	put32(child, 0, KIND_CDP_KERNEL);
	put64(child, 8, 5000);
	for (uint32_t version = 26; version <= 27; version++) {
		cupti_fake(version);
		cupti_window_forget();
		CHECK(!cupti_window_has(event, sizeof event) && !cupti_window_has(child, sizeof child));
		cupti_window_open(KIND_SYNC, 1000);
		cupti_window_begun(10);
		CHECK_EQ(cupti_window_has(event, sizeof event), version == 26);
		CHECK(!cupti_window_has(child, sizeof child));
		cupti_window_open(KIND_CUDA_EVENT, 1000);
		cupti_window_begun(11);
		CHECK(cupti_window_has(event, sizeof event));
		cupti_window_open(version == 26 ? KIND_CONCURRENT_KERNEL : KIND_KERNEL, 1000);
		CHECK(cupti_window_has(child, sizeof child));
	}
	cupti_window_forget();
}

TEST(records_of_an_earlier_profile_may_come_during_a_later_one)
{
	cupti_fake(130001);
	cupti_window_forget();
	for (uint32_t i = 1; i <= 4; i++) {
		cupti_window_open(KIND_CONCURRENT_KERNEL, 1000 * i);
		cupti_window_begun(100 * i);
		cupti_window_close(KIND_CONCURRENT_KERNEL, 1000 * i + 500);
		cupti_window_begun(100 * i + 50);
	}
	for (uint32_t i = 1; i <= 4; i++) {
		CHECK(has(100 * i));
		CHECK(has(100 * i + 49));
		CHECK(!has(100 * i + 50));
	}
}

TEST(correlation_ids_wrap_inside_a_window)
{
	cupti_fake(130001);
	cupti_window_forget();
	cupti_window_open(KIND_CONCURRENT_KERNEL, 1000);
	cupti_window_begun(0xfffffff0u);
	CHECK(!has(0xffffffefu));
	CHECK(has(0xffffffffu));
	CHECK(has(5));
}

TEST(what_has_no_call_belongs_to_the_profiler_by_its_time)
{
	uint8_t r[56] = { 0 };

	cupti_fake(130001);
	cupti_window_forget();
	cupti_window_open(KIND_OVERHEAD, 1000);
	cupti_window_begun(20);
	cupti_window_close(KIND_OVERHEAD, 2000);
	put32(r, 0, KIND_OVERHEAD);
	put64(r, OVERHEAD_START, 999);
	CHECK(!cupti_window_has(r, sizeof r));
	put64(r, OVERHEAD_START, 1500);
	CHECK(cupti_window_has(r, sizeof r));
	put64(r, OVERHEAD_START, 2000);
	CHECK(!cupti_window_has(r, sizeof r));
}

TEST(a_record_shorter_than_its_fields_is_not_read_beyond_its_end)
{
	unsigned offsets[CUPTI_TIMES];
	uint8_t r[24] = { 0 };

	cupti_fake(130001);
	cupti_window_forget();
	cupti_window_open(KIND_CONCURRENT_KERNEL, 1000);
	cupti_window_begun(20);
	put32(r, 0, KIND_CONCURRENT_KERNEL);
	put64(r, KERNEL_START, 1500);
	cupti_window_has(r, sizeof r);
	CHECK_EQ(cupti_record_times(KIND_CONCURRENT_KERNEL, sizeof r, offsets), 1);
	CHECK_EQ(cupti_record_times(KIND_CONCURRENT_KERNEL, KERNEL_SIZE, offsets), 5);
	CHECK_EQ(cupti_record_times(4242, KERNEL_SIZE, offsets), 0);
}
