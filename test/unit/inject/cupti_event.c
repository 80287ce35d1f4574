#include "inject/cupti/cupti_event.h"

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

static uint8_t asked_for_own;

static int get_stream_id(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	(void)context;
	asked_for_own = per_thread;
	*id = (uint32_t)(uintptr_t)stream + 100;
	return (uintptr_t)stream == 0xbad ? 1 : RESULT_OK;
}

static void call(int domain, uint32_t cbid, const void *params, int result)
{
	uint64_t data = 0;
	struct cupti_call_data d = {
		.site = SITE_ENTER, .function = "f", .params = params, .data = &data, .corr = 7, .context_id = 3,
		.context = (void *)3
	};

	cupti_callback(NULL, domain, cbid, &d);
	d.site = SITE_EXIT;
	d.result = &result;
	cupti_callback(NULL, domain, cbid, &d);
}

TEST(an_event_that_is_recorded_is_a_row_with_its_handle_and_stream)
{
	struct cupti_record_params p = { (void *)0x7000, (void *)5 };
	const struct event_record_row *row;

	cupti_fake(130001);
	tracer.fn.GetStreamIdEx = get_stream_id;
	call(DOMAIN_RUNTIME, 135, &p, 0);
	row = fake_row(ROW_event_record, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->event, 0x7000);
	CHECK_EQ(row->stream, 105);
	CHECK_EQ(row->context, 3);
	CHECK_EQ(row->corr, 7);
	CHECK_EQ(row->thread, 1);
	CHECK_EQ(row->start, ((const struct api_row *)fake_row(ROW_api, 0))->start);
	CHECK_EQ(asked_for_own, 0);
	call(DOMAIN_DRIVER, 588, &p, 0);
	CHECK_EQ(asked_for_own, 1);
	p.stream = (void *)0xbad;
	call(DOMAIN_DRIVER, 119, &p, 0);
	row = fake_row(ROW_event_record, 2);
	CHECK(row && row->stream == STREAM_NONE);
	call(DOMAIN_RUNTIME, 135, &p, 700);     /* an error */
	call(DOMAIN_RUNTIME, 135, NULL, 0);
	CHECK_EQ(fake_count(ROW_event_record), 3);
	CHECK_EQ(fake_count(ROW_api), 5);
}

TEST(what_waits_for_an_event_is_a_row_with_its_handle)
{
	struct cupti_wait_params stream = { (void *)5, (void *)0x7000 };
	struct cupti_await_params thread = { (void *)0x8000 };
	const struct event_wait_row *row;

	cupti_fake(130001);
	tracer.fn.GetStreamIdEx = get_stream_id;
	call(DOMAIN_RUNTIME, 147, &stream, 0);
	CHECK_EQ(asked_for_own, 0);
	row = fake_row(ROW_event_wait, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->event, 0x7000);
	CHECK_EQ(row->stream, 105);
	CHECK_EQ(row->context, 3);
	CHECK_EQ(row->corr, 7);
	CHECK_EQ(row->start, ((const struct api_row *)fake_row(ROW_api, 0))->start);
	call(DOMAIN_DRIVER, 436, &stream, 0);
	CHECK_EQ(asked_for_own, 1);
	call(DOMAIN_RUNTIME, 137, &thread, 0);
	row = fake_row(ROW_event_wait, 2);
	CHECK(row && row->event == 0x8000 && row->stream == STREAM_NONE);
	call(DOMAIN_DRIVER, 121, &thread, 600); /* an error */
	call(DOMAIN_DRIVER, 295, NULL, 0);
	CHECK_EQ(fake_count(ROW_event_wait), 3);
}

TEST(the_time_between_two_events_is_kept_as_the_program_was_told)
{
	float ms = 1.5f;
	struct cupti_elapsed_params p = { &ms, (void *)0x7000, (void *)0x8000 };
	const struct event_elapsed_row *row;

	cupti_fake(130001);
	call(DOMAIN_RUNTIME, 486, &p, 0);
	ms = -0.25f;
	call(DOMAIN_DRIVER, 123, &p, 0);
	call(DOMAIN_DRIVER, 780, &p, 600);      /* not ready: no answer */
	p.ms = NULL;
	call(DOMAIN_DRIVER, 780, &p, 0);
	CHECK_EQ(fake_count(ROW_event_elapsed), 2);
	row = fake_row(ROW_event_elapsed, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->elapsed, 1500000);
	CHECK_EQ(row->first, 0x7000);
	CHECK_EQ(row->second, 0x8000);
	row = fake_row(ROW_event_elapsed, 1);
	CHECK(row && row->elapsed == -250000);
}

/* Streams below 0x100 are of the context that is asked with, those above of another one. */
static int get_stream_id_strictly(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	(void)per_thread;
	if (context && (uintptr_t)stream >= 0x100)
		return 26;
	*id = (uint32_t)(uintptr_t)stream & 0xff;
	return RESULT_OK;
}

static int get_context_id(void *context, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)context;
	return RESULT_OK;
}

TEST(a_stream_of_another_context_has_its_number_and_its_context)
{
	struct cupti_record_params record = { (void *)0x7000, (void *)0x10d };
	struct cupti_wait_params wait = { (void *)0x20e, (void *)0x7000 };
	struct cupti_resource_data made = { .context = (void *)9, .stream = (void *)0x10d };
	const struct event_record_row *recorded;
	const struct event_wait_row *waited;

	cupti_fake(130001);
	tracer.fn.GetStreamIdEx = get_stream_id_strictly;
	tracer.fn.GetContextId = get_context_id;
	cupti_callback(NULL, DOMAIN_RESOURCE, RESOURCE_STREAM_CREATED, &made);
	call(DOMAIN_RUNTIME, 135, &record, 0);
	call(DOMAIN_RUNTIME, 147, &wait, 0);
	recorded = fake_row(ROW_event_record, 0);
	waited = fake_row(ROW_event_wait, 0);
	if (!CHECK(recorded && waited))
		return;
	CHECK_EQ(recorded->stream, 0x0d);
	CHECK_EQ(recorded->context, 9);
	CHECK_EQ(waited->stream, 0x0e);
	CHECK_EQ(waited->context, 0);           /* nobody was told of that stream */
}
