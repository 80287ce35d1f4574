/* Detection of steps from a program's launches, without any mark. */
#include "inject/capture/auto_steps.h"

#include <stdio.h>
#include <string.h>

#include "inject/capture/windows.h"
#include "inject/cupti/cupti_api.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define RUNTIME_LAUNCH 211u

static uint32_t corr;
static unsigned woken;
static int64_t waited;

static void launch(const char *symbol)
{
	int result = 0;
	uint64_t data = 0;
	struct cupti_call_data d = { .site = SITE_ENTER, .function = "function", .symbol = symbol, .result = &result, .data = &data,
				     .corr = ++corr };

	cupti_callback(NULL, DOMAIN_RUNTIME, RUNTIME_LAUNCH, &d);
	d.site = SITE_EXIT;
	cupti_callback(NULL, DOMAIN_RUNTIME, RUNTIME_LAUNCH, &d);
}

/* Another thread's call that waits for the GPU has come back, while CUPTI is woken. */
static void waking(void)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	windows_sleeper(NULL);
	auto_steps_waited();
	waited = clock_ns(CLOCK_MONOTONIC) - begin;
	woken++;
}

TEST(other_threads_launch_while_a_step_that_was_found_wakes_cupti)
{
	static const char *const kernels[] = { "load", "embed", "attention", "norm", "loss", "backward", "adam" };

	cupti_fake(130001);
	snprintf(guest->config.steps, sizeof guest->config.steps, "=auto");
	snprintf(guest->config.schedule, sizeof guest->config.schedule, "wait=1,active=1");
	guest->epoch++;                 /* the settings are read anew */
	stream_self.epoch = 0;
	guest->gate = 0;
	windows_sleeper(waking);
	for (unsigned i = 0; i < 400 && !woken; i++)
		for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
			launch(kernels[k]);
	CHECK_EQ(woken, 1);
	CHECK(waited < 150000000);      /* LOCK_WAIT_NS, if the lock were held */
	windows_sleeper(NULL);
}
