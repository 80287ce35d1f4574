#include "inject/cupti/cupti_api.h"

#include <errno.h>

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define RUNTIME_LAUNCH 211u
#define DRIVER_LAUNCH 307u

/* One API call as CUPTI tells it. */
struct call {
	int domain;
	uint32_t cbid, corr;
	uint64_t data;
};

static void tell(struct call *c, int site, int result)
{
	struct cupti_call_data d = { .site = site, .function = "function", .result = &result, .data = &c->data, .corr = c->corr };

	cupti_callback(NULL, c->domain, c->cbid, &d);
}

static void whole(int domain, uint32_t cbid, uint32_t corr, int result)
{
	struct call c = { domain, cbid, corr, 0 };

	tell(&c, SITE_ENTER, 0);
	tell(&c, SITE_EXIT, result);
}

static const struct api_row *api(size_t i)
{
	return fake_row(ROW_api, i);
}

TEST(a_call_is_a_row_with_its_result_range_and_correlation_id)
{
	struct call c = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 42, 0 };
	int64_t before, after;
	struct stream *s;

	cupti_fake(130001);
	s = stream_enter();
	s->slot->stack[0].id = 4711;
	s->slot->depth = 1;
	stream_leave(s);
	before = clock_now();
	tell(&c, SITE_ENTER, 0);
	tell(&c, SITE_EXIT, 700);
	after = clock_now();
	if (!CHECK_EQ(fake_count(ROW_api), 1))
		return;
	CHECK(api(0)->start >= before && api(0)->start + api(0)->duration <= after && api(0)->duration >= 0);
	CHECK_EQ(api(0)->corr, 42);
	CHECK_EQ(api(0)->result, 700);
	CHECK_EQ(api(0)->cbid, 2u << 16 | 211);
	CHECK_EQ(api(0)->range, 4711);
	CHECK_EQ(api(0)->thread, 1);
	CHECK_EQ(api(0)->step, -1);
	CHECK_STR(fake_string(api(0)->name), "cudaLaunchKernel_v7000");
}

/* A module is loaded, or a node made, inside the first call of a thread: that row is the first, and the call's comes after it. */
TEST(the_first_call_of_a_thread_keeps_its_row_when_something_happens_inside_of_it)
{
	struct call c = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 42, 0 };

	cupti_fake(130001);
	tell(&c, SITE_ENTER, 0);
	stream_leave(stream_enter());
	tell(&c, SITE_EXIT, 0);
	CHECK_EQ(fake_count(ROW_api), 1);
}

TEST(a_runtime_call_that_calls_the_driver_is_one_row)
{
	struct call outer = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 7, 0 };

	cupti_fake(130001);
	tell(&outer, SITE_ENTER, 0);
	whole(DOMAIN_DRIVER, DRIVER_LAUNCH, 7, 0);
	whole(DOMAIN_DRIVER, DRIVER_LAUNCH, 8, 0);      /* should a version number them on their own */
	tell(&outer, SITE_EXIT, 0);
	whole(DOMAIN_DRIVER, DRIVER_LAUNCH, 9, 0);
	CHECK_EQ(fake_count(ROW_api), 2);
	CHECK_EQ(api(0)->cbid, 2u << 16 | RUNTIME_LAUNCH);
	CHECK_EQ(api(1)->cbid, 1u << 16 | DRIVER_LAUNCH);
}

TEST(a_call_that_never_returned_does_not_hide_the_next)
{
	struct call lost = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 1, 0 };

	cupti_fake(130001);
	tell(&lost, SITE_ENTER, 0);
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 2, 0);
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 3, 0);
	CHECK_EQ(fake_count(ROW_api), 2);
	CHECK_EQ(api(0)->corr, 2);
}

TEST(an_end_without_a_beginning_is_no_row)
{
	struct call c = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 1, 0 };

	cupti_fake(130001);
	tell(&c, SITE_EXIT, 0);
	CHECK_EQ(fake_count(ROW_api), 0);
}

TEST(a_call_is_wanted_if_recording_was_on_when_it_began)
{
	struct call a = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 1, 0 }, b = { DOMAIN_RUNTIME, RUNTIME_LAUNCH, 2, 0 };

	cupti_fake(130001);
	fake_order(0);
	tell(&a, SITE_ENTER, 0);
	fake_order(ORDER_ALL);
	tell(&a, SITE_EXIT, 0);
	CHECK_EQ(fake_count(ROW_api), 0);
	tell(&b, SITE_ENTER, 0);
	fake_order(0);
	whole(DOMAIN_DRIVER, DRIVER_LAUNCH, 2, 0);
	tell(&b, SITE_EXIT, 0);
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 3, 0);
	CHECK_EQ(fake_count(ROW_api), 1);
	CHECK_EQ(api(0)->corr, 2);
}

TEST(a_name_is_asked_for_once)
{
	cupti_fake(130001);
	for (uint32_t i = 1; i <= 100; i++)
		whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, i, 0);
	CHECK_EQ(cupti_fake_state.names_asked, 1);
	CHECK_EQ(fake_count(ROW_string), 1);
}

TEST(a_call_that_cupti_has_no_name_for_has_its_function_name)
{
	cupti_fake(130001);
	whole(DOMAIN_RUNTIME, 5000, 1, 0);
	CHECK_EQ(fake_count(ROW_api), 1);
	CHECK_STR(fake_string(api(0)->name), "function");
}

/* Called around every launch: enabled, they would cost more than all that is wanted. */
static unsigned never_seen;

static int enable_callback(uint32_t on, void *subscriber, int domain, uint32_t cbid)
{
	static const uint32_t helpers[] = { 10, 502, 503, 504 };

	(void)subscriber;
	for (size_t i = 0; on && domain == DOMAIN_RUNTIME && i < sizeof helpers / sizeof *helpers; i++)
		never_seen += cbid == helpers[i];
	never_seen += on && domain != DOMAIN_RUNTIME && domain != DOMAIN_DRIVER;
	return RESULT_OK;
}

TEST(error_queries_and_the_helpers_of_a_launch_are_not_asked_for)
{
	cupti_fake(130001);
	tracer.fn.EnableCallback = enable_callback;
	cupti_api_enable();
	CHECK_EQ(never_seen, 0);
}

static bool asked_for[3][1024];

static int note_callback(uint32_t on, void *subscriber, int domain, uint32_t cbid)
{
	(void)subscriber;
	if (domain < 3 && cbid < 1024)
		asked_for[domain][cbid] = on;
	return RESULT_OK;
}

/* Only rare programs make these calls, so no test of whole programs would miss them. */
TEST(rare_calls_that_start_or_end_gpu_work_are_asked_for)
{
	static const uint32_t driver[] = {
		460, 461, 462, 463, 475, 476, 663, 664, 665, 666, 667, 668,    /* cuStreamWriteValue32, 64 and cuStreamBatchMemOp */
		791, 792,                                                      /* cuMemDiscardAndPrefetchBatchAsync */
	};
	static const uint32_t runtime[] = {
		491, 492,                                                      /* cudaMemDiscardAndPrefetchBatchAsync */
		527,                                                           /* cudaExecutionCtxDestroy */
	};

	cupti_fake(130401);
	memset(asked_for, 0, sizeof asked_for);
	tracer.fn.EnableCallback = note_callback;
	cupti_api_enable();
	for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
		CHECK_EQ(asked_for[DOMAIN_DRIVER][driver[i]] ? 0 : driver[i], 0);
	for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
		CHECK_EQ(asked_for[DOMAIN_RUNTIME][runtime[i]] ? 0 : runtime[i], 0);
}

TEST(callbacks_leave_errno_alone)
{
	cupti_fake(130001);
	errno = 4242;
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 1, 0);
	CHECK_EQ(errno, 4242);
}

TEST(a_child_of_a_process_with_cuda_records_no_calls_and_says_so)
{
	cupti_fake(130001);
	cupti_module.forked();
	CHECK_EQ(tracer.pid, 0);
	CHECK(!tracer_usable());
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 1, 0);
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 2, 0);
	cupti_module.stop();
	CHECK_EQ(fake_count(ROW_api), 0);
	CHECK_EQ(guest->arena->health[HEALTH_forked_used_cuda].count, 1);
	CHECK_EQ(cupti_fake_state.flushes, 0);
}

TEST(a_fatal_error_of_cupti_ends_all_calls_to_it)
{
	struct cupti_state_data d = { .result = 999, .message = "the worst" };

	cupti_fake(130001);
	cupti_callback(NULL, DOMAIN_STATE, STATE_FATAL_ERROR, &d);
	CHECK(!tracer_usable());
	CHECK_EQ(guest->arena->health[HEALTH_cupti_fatal].count, 1);
	CHECK_STR(guest->arena->health[HEALTH_cupti_fatal].detail, "the worst");
}

/* A signal handler of the program that calls CUDA while a hook of ours writes a row, just when an order has come. */
TEST(a_call_in_the_middle_of_a_hook_writes_nothing_into_its_row)
{
	struct mark_row *row;
	struct stream *s;

	cupti_fake(130001);
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 1, 0);
	s = stream_enter();
	row = stream_reserve(s, ROW_mark, sizeof *row);
	*row = (struct mark_row){ .start = 4711 };
	for (uint32_t i = 0; i < 2 * MAX_OPEN_WINDOWS; i++) {
		fake_order(0);
		whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 2 * i + 2, 0);
		fake_order(ORDER_ALL);
		whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 2 * i + 3, 0);
	}
	stream_publish(s, row);
	stream_leave(s);
	whole(DOMAIN_RUNTIME, RUNTIME_LAUNCH, 100, 0);
	CHECK_EQ(fake_count(ROW_mark), 1);
	row = (struct mark_row *)fake_row(ROW_mark, 0);
	CHECK(row && row->start == 4711);
	CHECK_EQ(guest->arena->orders_seen, guest->arena->n_orders);
}
