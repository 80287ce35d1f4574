#include "inject/cupti/cupti_primary.h"

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

static void *context;

static void retain(int device)
{
	cupti_primary_retained(&(struct cupti_retain_params){ &context, device });
}

/* What is to be known when it begins; and it ends well. */
static bool release(int device)
{
	struct cupti_release_params p = { device };
	bool ends = cupti_primary_ends(&p);

	cupti_primary_released(&p);
	return ends;
}

static void begin(uintptr_t handle)
{
	cupti_fake(130001);
	cupti_primary_forget();
	context = (void *)handle;
}

TEST(only_the_last_release_of_a_primary_context_may_end_it)
{
	begin(0x100);
	retain(0);
	for (int i = 0; i < 3; i++) {
		retain(0);
		CHECK(!release(0));
	}
	CHECK(release(0));
	CHECK(release(1) && release(-1) && release(64) && cupti_primary_ends(NULL));    /* nothing is known of these */
}

TEST(a_primary_context_that_outlives_its_last_release_is_held_by_somebody_else)
{
	begin(0x100);
	retain(3);
	CHECK(release(3));
	for (int i = 0; i < 3; i++) {
		retain(3);
		CHECK(!release(3));
	}
	cupti_primary_destroyed(context);
	retain(3);
	CHECK(release(3));
}

TEST(a_primary_context_that_went_is_not_held_any_more)
{
	begin(0x100);
	retain(0);
	retain(0);
	cupti_primary_destroyed((void *)0x200);
	CHECK(!release(0));
	cupti_primary_destroyed(context);
	retain(0);
	CHECK(release(0));
	cupti_primary_destroyed(context);
	retain(0);
	retain(0);
	context = (void *)0x300;                /* it went untold, and here is the next one */
	retain(0);
	CHECK(release(0));
}

TEST(calls_that_hold_primary_contexts_are_counted_while_nothing_is_recorded)
{
	struct cupti_retain_params p = { &context, 5 };
	struct cupti_release_params r = { 5 };
	uint64_t data = 0;
	int result = 0;
	struct cupti_call_data d = { .function = "f", .data = &data, .corr = 7, .params = &p, .result = &result };

	begin(0x500);
	fake_order(0);
	for (int i = 0; i < 2; i++) {
		d.site = SITE_ENTER;
		cupti_callback(NULL, DOMAIN_DRIVER, 386, &d);
		d.site = SITE_EXIT;
		cupti_callback(NULL, DOMAIN_DRIVER, 386, &d);
	}
	CHECK(!cupti_primary_ends(&r));
	result = 101;                           /* a release that fails */
	d.params = &r;
	cupti_callback(NULL, DOMAIN_DRIVER, 544, &d);
	CHECK(!cupti_primary_ends(&r));
	result = 0;
	cupti_callback(NULL, DOMAIN_DRIVER, 544, &d);
	CHECK(cupti_primary_ends(&r));
	CHECK_EQ(fake_count(ROW_api), 0);
}
