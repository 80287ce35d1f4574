/* The program's own profiler: which records are its own, its clock, and what reaches its buffers. */
#include "inject/cupti_share.h"

#include <stdlib.h>
#include <string.h>

#include "inject/cupti_activity.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_client.h"
#include "inject/cupti_clock.h"
#include "inject/cupti_window.h"
#include "inject/health.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define KERNEL_SIZE 216u

/* ---- windows ---- */

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

/* ---- its clock ---- */

#define LATER (INT64_MAX / 4)
#define MS    1000000ll

static uint64_t some_clock(void)
{
	return 1;
}

TEST(times_are_converted_between_readings_of_both_clocks)
{
	cupti_fake(130001);
	cupti_clock_set(NULL);
	CHECK_EQ(cupti_clock_convert(1234), 1234);
	cupti_clock_set(some_clock);
	cupti_clock_set(NULL);
	cupti_clock_set(some_clock);            /* forgets, and reads once: now, 1 */
	cupti_clock_put(LATER, 1000);
	cupti_clock_put(LATER + 20 * MS, 4000);
	cupti_clock_put(LATER + 40 * MS, 5000);
	CHECK_EQ(cupti_clock_convert(LATER + 10 * MS), 2500);
	CHECK_EQ(cupti_clock_convert(LATER + 30 * MS), 4500);
	CHECK_EQ(cupti_clock_convert(LATER + 60 * MS), 6000);
	CHECK_EQ(cupti_clock_convert(0), 0);
	cupti_clock_set(NULL);
}

TEST(any_number_of_readings_is_kept_in_order)
{
	cupti_fake(130001);
	cupti_clock_set(NULL);
	cupti_clock_set(some_clock);
	for (int64_t i = 1; i <= 1000; i++)
		cupti_clock_put(LATER + i * 20 * MS, 10000u + (uint64_t)i * 3000);
	/* All but the very first, which is of now. */
	for (int64_t i = 100; i < 1000; i += 7)
		CHECK_EQ(cupti_clock_convert((uint64_t)(LATER + i * 20 * MS + 10 * MS)), 10000 + i * 3000 + 1500);
	cupti_clock_set(NULL);
}

/* ---- its buffers ---- */

#define MOST 64

static struct {
	uint8_t data[MOST][1024] __attribute__((aligned(8)));
	size_t valid[MOST];
	bool back[MOST];
	uint32_t given, came;
	size_t size, most;
	bool refuse;
} its;

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = its.refuse || its.given == MOST ? NULL : its.data[its.given++];
	*size = its.size;
	*most = its.most;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	size_t i = (size_t)(buffer - its.data[0]) / sizeof its.data[0];

	(void)context;
	(void)stream;
	CHECK_EQ(size, its.size);
	CHECK(!its.back[i]);
	its.back[i] = true;
	its.valid[i] = valid;
	its.came++;
}

static uint64_t enabled;        /* kinds that the library has on */

static int enable_kind(int kind)
{
	enabled |= 1ull << kind;
	return RESULT_OK;
}

static int disable_kind(int kind)
{
	enabled &= ~(1ull << kind);
	return RESULT_OK;
}

/* A profiler with kernels enabled since call 10, and buffers of that size. */
static void profiler(size_t size)
{
	cupti_fake(130001);
	tracer.fn.ActivityEnable = enable_kind;
	tracer.fn.ActivityDisable = disable_kind;
	cupti_client_forget();
	cupti_activity_forget();
	enabled = 0;
	memset(&its, 0, sizeof its);
	its.size = size;
	cupti_client.requested = requested;
	cupti_client.completed = completed;
	cupti_activity_ask(KIND_CONCURRENT_KERNEL, "kernels");
	cupti_activity_ask(KIND_OVERHEAD, "overhead");
	cupti_share_kind(true, false, KIND_CONCURRENT_KERNEL);
	cupti_client.kinds[0] = cupti_client.ever[0] = 1ull << KIND_CONCURRENT_KERNEL;
	cupti_client.n_kinds = cupti_client.n_ever = 1;
	cupti_share_begun(10);
}

static void put_kernel(uint32_t corr)
{
	uint8_t *r = cupti_fake_record(KIND_CONCURRENT_KERNEL, KERNEL_SIZE);

	put32(r, KERNEL_CORR, corr);
	put64(r, KERNEL_START, 5000 + corr);
	put64(r, KERNEL_END, 5008 + corr);
	put64(r, KERNEL_NAME, (uintptr_t)"a_kernel");
}

static uint32_t copied(uint32_t i, uint32_t n)
{
	return at32(its.data[i], n * KERNEL_SIZE + KERNEL_CORR);
}

TEST(the_profiler_gets_copies_of_its_own_records_and_we_keep_all)
{
	profiler(1024);
	CHECK_EQ(its.given, 1);         /* as CUPTI would, before the first record */
	for (uint32_t corr = 7; corr < 13; corr++)
		put_kernel(corr);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 6);
	CHECK_EQ(its.came, 0);          /* neither full nor flushed */
	cupti_share_deliver(false);
	CHECK_EQ(its.came, 1);
	CHECK_EQ(its.valid[0], 3 * KERNEL_SIZE);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(copied(0, i), 10 + i);
	cupti_client_forget();
}

TEST(full_buffers_go_back_at_once_and_the_rest_at_a_flush)
{
	profiler(1024);                 /* four kernels */
	for (uint32_t corr = 10; corr < 20; corr++)
		put_kernel(corr);
	cupti_fake_deliver();
	CHECK_EQ(its.came, 2);
	cupti_share_deliver(true);
	CHECK_EQ(its.came, 3);
	CHECK_EQ(its.valid[2], 2 * KERNEL_SIZE);
	CHECK_EQ(copied(2, 1), 19);
	CHECK_EQ(cupti_share_take_dropped(), 0);
	cupti_client_forget();
}

TEST(the_most_records_that_the_profiler_allows_are_not_exceeded)
{
	profiler(1024);
	cupti_share_deliver(true);
	its.most = 2;
	for (uint32_t corr = 10; corr < 15; corr++)
		put_kernel(corr);
	cupti_fake_deliver();
	cupti_share_deliver(true);
	CHECK_EQ(its.valid[1], 2 * KERNEL_SIZE);
	CHECK_EQ(its.valid[2], 2 * KERNEL_SIZE);
	CHECK_EQ(its.valid[3], KERNEL_SIZE);
	cupti_client_forget();
}

TEST(a_profiler_that_gives_no_buffer_or_a_tiny_one_loses_its_records_alone)
{
	profiler(100);
	for (uint32_t corr = 10; corr < 15; corr++)
		put_kernel(corr);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 5);
	CHECK_EQ(cupti_share_take_dropped(), 5);
	CHECK_EQ(its.came, its.given);

	profiler(1024);
	its.refuse = true;
	cupti_share_deliver(true);
	put_kernel(10);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 1);
	CHECK_EQ(cupti_share_take_dropped(), 1);
	cupti_client_forget();
}

TEST(what_only_the_profiler_asked_for_is_no_row_and_not_unknown)
{
	uint8_t *r;

	profiler(1024);
	cupti_share_kind(true, false, 5);
	cupti_client.kinds[0] |= 1 << 5;
	cupti_client.ever[0] |= 1 << 5;
	cupti_share_begun(11);
	r = cupti_fake_record(5, 40);   /* RUNTIME */
	put32(r, 32, 12);
	put_kernel(12);
	cupti_fake_deliver();
	cupti_share_deliver(false);
	CHECK_EQ(health(HEALTH_record_unknown), 0);
	CHECK_EQ(fake_count(ROW_kernel), 1);
	CHECK_EQ(its.valid[0], 40 + KERNEL_SIZE);
	cupti_client_forget();
}

/* The reader of such a record frees what it points to: both at once would be a double free. */
TEST(what_a_record_hands_over_has_one_owner)
{
	char *theirs = malloc(8), *ours = malloc(8);
	uint8_t *r;

	profiler(1024);
	cupti_window_open(KIND_OVERHEAD, 1000);
	cupti_client.ever[0] |= 1ull << KIND_OVERHEAD;
	r = cupti_fake_record(KIND_OVERHEAD, 56);
	put64(r, OVERHEAD_START, 2000);
	put64(r, OVERHEAD_END, 2001);
	put64(r, tracer.layout.overhead.data, (uintptr_t)theirs);
	r = cupti_fake_record(KIND_OVERHEAD, 56);
	put64(r, OVERHEAD_START, 500);
	put64(r, OVERHEAD_END, 501);
	put64(r, tracer.layout.overhead.data, (uintptr_t)ours);
	cupti_fake_deliver();
	cupti_share_deliver(false);
	CHECK_EQ(its.valid[0], 56);
	CHECK_EQ(at64(its.data[0], tracer.layout.overhead.data), (uintptr_t)theirs);
	free(theirs);
	cupti_client_forget();
}

/* Through the front door: CUPTI is up, and it is shared. */
static void switch_kind(bool on, int kind)
{
	CHECK_EQ(cupti_client_kind(on ? KIND_ON : KIND_OFF, kind, NULL), RESULT_OK);
}

static int set_thread_ids(int type)
{
	(void)type;
	return RESULT_OK;
}

static bool is_on(int kind)
{
	return enabled >> kind & 1;
}

TEST(graphs_are_as_the_profiler_asked_while_it_has_a_kind_of_work_enabled)
{
	profiler(1024);
	tracer.fn.SetThreadIdType = set_thread_ids;
	guest->config.cupti_mode = CUPTI_SHARE;
	switch_kind(true, KIND_GRAPH);
	CHECK(is_on(KIND_GRAPH));
	switch_kind(false, KIND_GRAPH);
	CHECK(!is_on(KIND_GRAPH));              /* node by node again, as we want them */
	switch_kind(false, KIND_CONCURRENT_KERNEL);
	CHECK(is_on(KIND_CONCURRENT_KERNEL));   /* ours */

	profiler(1024);
	tracer.fn.SetThreadIdType = set_thread_ids;
	guest->config.cupti_mode = CUPTI_SHARE;
	cupti_activity_ask(KIND_GRAPH, "graphs");
	switch_kind(true, KIND_MEMCPY);
	CHECK(!is_on(KIND_GRAPH));              /* it sees nodes */
	switch_kind(true, KIND_GRAPH);
	CHECK(is_on(KIND_GRAPH));
	switch_kind(false, KIND_GRAPH);
	CHECK(!is_on(KIND_GRAPH));
	switch_kind(false, KIND_MEMCPY);
	CHECK(!is_on(KIND_GRAPH));
	switch_kind(false, KIND_CONCURRENT_KERNEL);
	CHECK(is_on(KIND_GRAPH));               /* and we have whole graphs again */
	cupti_client_forget();
}

TEST(kernels_one_after_the_other_take_the_place_of_concurrent_ones)
{
	profiler(1024);
	tracer.fn.SetThreadIdType = set_thread_ids;
	guest->config.cupti_mode = CUPTI_SHARE;
	switch_kind(false, KIND_CONCURRENT_KERNEL);
	switch_kind(true, KIND_KERNEL);
	CHECK(is_on(KIND_KERNEL) && !is_on(KIND_CONCURRENT_KERNEL));
	switch_kind(false, KIND_KERNEL);
	CHECK(!is_on(KIND_KERNEL) && is_on(KIND_CONCURRENT_KERNEL));
	cupti_client_forget();
}

TEST(after_the_end_nothing_of_the_profilers_is_called)
{
	profiler(1024);
	cupti_share_stop();
	for (uint32_t corr = 10; corr < 30; corr++)
		put_kernel(corr);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 20);
	CHECK_EQ(its.given, 1);
	CHECK_EQ(its.came, 0);
	cupti_client_forget();
}

TEST(what_the_profiler_disables_while_nothing_is_recorded_is_off_until_it_is_wanted)
{
	profiler(1024);
	tracer.fn.SetThreadIdType = set_thread_ids;
	guest->config.cupti_mode = CUPTI_SHARE;
	cupti_activity_sleep();
	switch_kind(true, KIND_OVERHEAD);
	switch_kind(false, KIND_OVERHEAD);
	CHECK(!is_on(KIND_OVERHEAD));
	switch_kind(false, KIND_CONCURRENT_KERNEL);
	CHECK(!is_on(KIND_CONCURRENT_KERNEL));
	switch_kind(true, KIND_KERNEL);
	switch_kind(false, KIND_KERNEL);
	CHECK(!is_on(KIND_CONCURRENT_KERNEL));
	switch_kind(true, KIND_KERNEL);
	cupti_activity_wake();
	CHECK(is_on(KIND_OVERHEAD));
	CHECK(!is_on(KIND_CONCURRENT_KERNEL));
	switch_kind(false, KIND_KERNEL);
	CHECK(is_on(KIND_CONCURRENT_KERNEL));
	cupti_client_forget();
	cupti_activity_forget();
}
