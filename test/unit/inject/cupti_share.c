/* CUPTI shared with the program's own profiler: records in its buffers, and the kinds enabled for it. */
#include "inject/client/cupti_share.h"

#include <stdlib.h>
#include <string.h>

#include "inject/client/cupti_client.h"
#include "inject/client/cupti_clock.h"
#include "inject/client/cupti_window.h"
#include "inject/client/cupti_yield.h"
#include "inject/core/health.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_buffers.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define KERNEL_SIZE 216u

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

TEST(the_profiler_gets_no_bytes_behind_the_last_record)
{
	profiler(1024);
	for (uint32_t corr = 10; corr < 12; corr++) {
		put_kernel(corr);
		cupti_fake_tail(40, 0);
		cupti_fake_deliver();
	}
	cupti_share_deliver(false);
	CHECK_EQ(its.valid[0], 2 * KERNEL_SIZE);
	CHECK_EQ(copied(0, 0), 10);
	CHECK_EQ(copied(0, 1), 11);
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

static int context_kinds;

static int enable_for_context(void *context, int kind)
{
	(void)context;
	context_kinds++;
	return enable_kind(kind);
}

TEST(a_kind_for_one_context_is_not_shared)
{
	profiler(1024);
	tracer.version = 130301;
	tracer.fn.SetThreadIdType = set_thread_ids;
	tracer.fn.ActivityEnableContext = enable_for_context;
	guest->config.cupti_mode = CUPTI_SHARE;
	cupti_activity_ask(KIND_MEMSET, "sets");
	context_kinds = 0;
	CHECK_EQ(cupti_client_kind(KIND_ON_CONTEXT, KIND_MEMCPY, &its), RESULT_OK);
	CHECK_EQ(context_kinds, 1);
	CHECK(cupti_yield_holds());
	CHECK(!is_on(KIND_MEMSET) && !is_on(KIND_OVERHEAD));            /* ours */
	CHECK(is_on(KIND_MEMCPY) && is_on(KIND_CONCURRENT_KERNEL));     /* what it has, before and now */
	CHECK_EQ(health(HEALTH_cupti_yielded), 1);
	switch_kind(false, KIND_MEMCPY);
	switch_kind(false, KIND_CONCURRENT_KERNEL);
	CHECK(!cupti_yield_holds());
	CHECK(is_on(KIND_MEMSET) && is_on(KIND_OVERHEAD) && is_on(KIND_CONCURRENT_KERNEL));
	switch_kind(true, KIND_CONCURRENT_KERNEL);                      /* its next session is shared */
	CHECK(!cupti_yield_holds());
	cupti_client_forget();
	cupti_activity_forget();
}

#define RUNTIME 5        /* a kind that is never ours */

static int refuse_runtime(int kind)
{
	return kind == RUNTIME && is_on(KIND_OVERHEAD) ? RESULT_NOT_COMPATIBLE : enable_kind(kind);
}

TEST(a_kind_that_cupti_refuses_beside_ours_is_not_shared)
{
	profiler(1024);
	tracer.version = 130301;
	tracer.fn.SetThreadIdType = set_thread_ids;
	guest->config.cupti_mode = CUPTI_SHARE;
	tracer.fn.ActivityEnable = refuse_runtime;
	switch_kind(true, RUNTIME);
	CHECK(cupti_yield_holds() && is_on(RUNTIME) && !is_on(KIND_OVERHEAD));
	switch_kind(false, RUNTIME);
	switch_kind(false, KIND_CONCURRENT_KERNEL);
	CHECK(!cupti_yield_holds() && is_on(KIND_OVERHEAD) && !is_on(RUNTIME));
	cupti_client_forget();
	cupti_activity_forget();
}

TEST(where_kinds_must_stay_enabled_a_profiler_is_refused_what_cannot_be_shared)
{
	static const uint32_t versions[] = { 22, 23, 130000, 130001, 130100 };

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		profiler(1024);
		tracer.version = versions[i];
		tracer.fn.SetThreadIdType = set_thread_ids;
		tracer.fn.ActivityEnableContext = enable_for_context;
		guest->config.cupti_mode = CUPTI_SHARE;
		tracer.fn.ActivityEnable = refuse_runtime;
		CHECK_EQ(cupti_client_kind(KIND_ON, RUNTIME, NULL), RESULT_NOT_COMPATIBLE);
		context_kinds = 0;
		CHECK_EQ(cupti_client_kind(KIND_ON_CONTEXT, KIND_MEMCPY, &its), RESULT_OK);
		CHECK_EQ(context_kinds, 0);                     /* enabled for all contexts */
		CHECK(!cupti_yield_holds());
		CHECK(is_on(KIND_OVERHEAD) && is_on(KIND_CONCURRENT_KERNEL) && is_on(KIND_MEMCPY));
		CHECK_EQ(health(HEALTH_cupti_flawed), 1);
		cupti_client_forget();
		cupti_activity_forget();
	}
}

static uint8_t attributes[16];

static int set_attribute(int attribute, size_t *size, void *value)
{
	CHECK_EQ(*size, 1);
	attributes[attribute] = *(uint8_t *)value;
	return RESULT_OK;
}

TEST(cupti_zeroes_buffers_while_it_has_those_of_the_programs_own_profiler)
{
	for (uint8_t zeroed = 0; zeroed < 2; zeroed++) {
		profiler(1024);
		tracer.fn.SetThreadIdType = set_thread_ids;
		tracer.fn.ActivitySetAttribute = set_attribute;
		attributes[ATTRIBUTE_ZEROED] = 1;               /* as the tracer's are */
		CHECK_EQ(cupti_client_attribute(ATTRIBUTE_ZEROED, &(size_t){ 1 }, &zeroed), RESULT_OK);
		CHECK_EQ(attributes[ATTRIBUTE_ZEROED], 1);
		cupti_yield_begin();
		CHECK_EQ(attributes[ATTRIBUTE_ZEROED], zeroed);
		cupti_yield_end();
		CHECK_EQ(attributes[ATTRIBUTE_ZEROED], 1);
		cupti_client_forget();
		cupti_activity_forget();
	}
}

TEST(attributes_of_a_profiler_that_comes_before_us_stay)
{
	profiler(1024);
	tracer.state = TRACER_OFF;
	tracer.fn.ActivitySetAttribute = set_attribute;
	CHECK_EQ(cupti_client_attribute(ATTRIBUTE_ZEROED, &(size_t){ 1 }, &(uint8_t){ 1 }), RESULT_OK);
	CHECK_EQ(cupti_client_attribute(ATTRIBUTE_PER_THREAD, &(size_t){ 1 }, &(uint8_t){ 1 }), RESULT_OK);
	cupti_yield_begin();
	CHECK_EQ(attributes[ATTRIBUTE_ZEROED], 1);
	CHECK_EQ(attributes[ATTRIBUTE_PER_THREAD], 1);
	cupti_client_forget();
	cupti_activity_forget();
}

static int refuse_clock(uint64_t (*clock)(void))
{
	(void)clock;
	CHECK(false);
	return RESULT_UNKNOWN;
}

static uint64_t three_times_as_fast(void)
{
	return 3 * (uint64_t)clock_ns(CLOCK_REALTIME);
}

static size_t its_record(uint8_t *buffer, uint64_t start)
{
	memset(buffer, 0, KERNEL_SIZE);
	put32(buffer, 0, KIND_CONCURRENT_KERNEL);
	put64(buffer, KERNEL_START, start);
	put64(buffer, KERNEL_END, start + 1000);
	return KERNEL_SIZE;
}

static int one_record(uint8_t *buffer, size_t valid, uint8_t **record)
{
	if (*record || !valid)
		return RESULT_MAX_LIMIT;
	*record = buffer;
	return RESULT_OK;
}

TEST(cupti_gets_no_clock_and_yielded_buffers_come_back_on_its_clock)
{
	uint64_t now = (uint64_t)clock_ns(CLOCK_REALTIME), start;
	size_t valid;

	profiler(1024);
	guest->config.cupti_mode = CUPTI_YIELD;
	tracer.fn.SetThreadIdType = set_thread_ids;
	tracer.fn.ActivityRegisterTimestampCallback = refuse_clock;
	tracer.fn.ActivityGetNextRecord = one_record;
	tracer.state = TRACER_OFF;                      /* before cuInit */
	CHECK_EQ(cupti_client_clock(three_times_as_fast), RESULT_OK);
	tracer.state = TRACER_UP;
	switch_kind(true, KIND_MEMCPY);
	CHECK(cupti_yield_holds());
	CHECK_EQ(cupti_client_clock(three_times_as_fast), RESULT_OK);
	valid = its_record(its.data[0], now);
	its.given = 1;
	cupti_yield_complete(NULL, 0, its.data[0], its.size, valid);
	start = at64(its.data[0], KERNEL_START);
	CHECK(start > 3 * now - 3000000 && start < 3 * now + 3000000);
	CHECK(at64(its.data[0], KERNEL_END) - start >= 2900 && at64(its.data[0], KERNEL_END) - start <= 3100);
	cupti_clock_set(NULL);
	cupti_client_forget();
	cupti_activity_forget();
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

TEST(what_came_at_the_end_goes_to_a_profiler_that_flushes_then)
{
	size_t n = 0;

	profiler(1024);                         /* four kernels */
	put_kernel(10);
	cupti_fake_deliver();
	cupti_share_stop();
	for (uint32_t corr = 9; corr < 20; corr++)
		put_kernel(corr);
	cupti_fake_deliver();
	CHECK_EQ(its.given, 1);
	cupti_share_deliver(true);
	for (uint32_t i = 0; i < its.given; i++)
		n += its.valid[i] / KERNEL_SIZE;
	CHECK_EQ(n, 11);                        /* not number 9, which began before */
	CHECK_EQ(copied(0, 0), 10);
	CHECK_EQ(cupti_share_take_dropped(), 0);
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
