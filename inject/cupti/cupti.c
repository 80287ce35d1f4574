#include "inject/cupti/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/capture/windows.h"
#include "inject/client/cupti_client.h"
#include "inject/client/cupti_share.h"
#include "inject/client/cupti_yield.h"
#include "inject/core/intern.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_api.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/cupti/cupti_flush.h"
#include "inject/cupti/cupti_resource.h"
#include "inject/process/lifecycle.h"
#include "inject/stacks/stacks.h"

struct tracer tracer;

bool tracer_usable(void)
{
	return __atomic_load_n(&tracer.state, __ATOMIC_ACQUIRE) == TRACER_UP && tracer.pid == session_real_pid();
}

/* cuptiGetResultString() is called after subscribing only: from 13.2 on it answers subscribers only, and 13.2 crashes without a driver. */
static const char *result_text(int result)
{
	const char *text = NULL;

	if (tracer.subscriber && tracer.fn.GetResultString(result, &text) == RESULT_OK && text)
		return text;
	switch (result) {
	case RESULT_NOT_INITIALIZED:
		return "CUPTI_ERROR_NOT_INITIALIZED";
	case RESULT_BUSY:
		return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
	case RESULT_UNKNOWN:
		return "CUPTI_ERROR_UNKNOWN";
	}
	return "unknown error";
}

void tracer_error(const char *call, int result)
{
	health_note(HEALTH_cupti_error, "%s: %s (%d)", call, result_text(result), result);
}

/* API rows make no system call that changes errno; the other callbacks save it. */
void cupti_own_callback(int domain, uint32_t cbid, const void *data)
{
	int saved;

	if (likely(domain == DOMAIN_RUNTIME || domain == DOMAIN_DRIVER)) {
		cupti_api_call(domain, cbid, data);
		return;
	}
	saved = errno;
	if (domain == DOMAIN_RESOURCE && tracer.state == TRACER_UP && guest->arena)
		cupti_resource_event(cbid, data);
	if (domain == DOMAIN_STATE)
		cupti_state_event(cbid, data);
	errno = saved;
}

/* At the first call after a context was created: enables the kinds that were wanted before. */
static void wake_first(int domain, const void *data)
{
	if (!__atomic_load_n(&tracer.ready, __ATOMIC_ACQUIRE) || (domain != DOMAIN_RUNTIME && domain != DOMAIN_DRIVER) ||
	    ((const struct cupti_call_data *)data)->site != SITE_ENTER)
		return;
	if (__atomic_exchange_n(&tracer.wake_due, 0, __ATOMIC_ACQ_REL) && tracer_usable())
		cupti_flush_wake();
}

void cupti_callback(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user;
	if (unlikely(domain == DOMAIN_RESOURCE && cbid == RESOURCE_CONTEXT_CREATED))
		__atomic_store_n(&tracer.ready, 1, __ATOMIC_RELEASE);
	if (unlikely(__atomic_load_n(&tracer.wake_due, __ATOMIC_RELAXED)))
		wake_first(domain, data);
	if (unlikely(cupti_client.seen))
		cupti_client_callback(domain, cbid, data);
	else
		cupti_own_callback(domain, cbid, data);
}

/* ---- start ---- */

static void describe(uint32_t driver)
{
	struct stream *s = stream_enter();
	char text[32];

	if (!s)
		return;
	if (driver) {
		snprintf(text, sizeof text, "%u.%u", driver / 1000, driver % 1000 / 10);
		intern_attribute(s, "driver.version", text);
	}
	if (cupti_runtime_major()) {
		snprintf(text, sizeof text, "%u", cupti_runtime_major());
		intern_attribute(s, "runtime.version", text);
	}
	if (tracer.version) {
		snprintf(text, sizeof text, "%u", tracer.version);
		intern_attribute(s, "cupti.version", text);
		intern_attribute(s, "cupti.path", cupti_path(&tracer.fn));
		intern_attribute(s, "cupti.buffers", tracer.per_thread ? "per thread" : "shared");
	}
	stream_leave(s);
}

/* Where kinds must stay enabled, --cupti=yield becomes share: yielding disables them. */
static void choose_mode(void)
{
	if (!tracer_keeps_kinds(tracer.version) || guest->config.cupti_mode != CUPTI_YIELD)
		return;
	guest->config.cupti_mode = CUPTI_SHARE;
	if (tracer.version != FLAWED_VERSION)
		health_note(HEALTH_cupti_flawed, "CUPTI %s after a pause; --cupti=share replaces yield; use %s",
			    tracer.version < FLAWED_VERSION ? "12.4 and 12.5 lose kernels" : "13.0 and 13.1 give wrong graph ids",
			    tracer_better_release(tracer.version));
}

static int choose_layout(uint32_t version)
{
	if (cupti_layouts_choose(&tracer.layout, version) == 0)
		return 0;
	health_note(HEALTH_cupti_symbol, "libcupti's version %u is older than that of CUDA 11.0", version);
	return -1;
}

void cupti_ask_holder(struct cupti_subscriber_params *params)
{
	void *subscriber = NULL;

	if (tracer.fn.Subscribe_v2(&subscriber, cupti_callback, NULL, params) == RESULT_OK && tracer.fn.Unsubscribe)
		tracer.fn.Unsubscribe(subscriber);      /* the holder has unsubscribed since */
}

/*
 * Reports who holds CUPTI.  cuptiSubscribe_v2() is used for nothing else: from 13.3 on, a subscriber of the second family of functions
 * does not exclude one of the first family, whose buffer callbacks would then replace the tracer's.
 */
static void say_holder(void)
{
	char holder[HOLDER_NAME_SIZE] = "";
	struct cupti_subscriber_params params = {
		.size = sizeof params, .name = "gprof-run", .old_name = holder, .old_size = sizeof holder,
	};

	if (tracer.fn.Subscribe_v2)
		cupti_ask_holder(&params);
	health_note(HEALTH_cupti_busy, "%s", holder[0] ? holder : "unknown tool: CUPTI did not tell its name");
}

static int ask_version(void)
{
	int result = tracer.fn.GetVersion(&tracer.version);

	if (result == RESULT_OK)
		return choose_layout(tracer.version);
	tracer.version = 0;
	if (result == RESULT_BUSY)
		say_holder();
	else
		tracer_error("cuptiGetVersion", result);
	return -1;
}

/*
 * A libcupti that answers cuptiGetVersion() only with a driver is asked after subscribing; until then, the layouts are those of the first
 * such release.
 */
static int bind(void *lib)
{
	if (!lib || cupti_bind(&tracer.fn, lib) < 0)
		return -1;
	if ((cupti_needs_driver(lib) ? choose_layout(FIRST_DISPATCHED_VERSION) : ask_version()) < 0)
		return -1;
	if (tracer.version == FLAWED_VERSION)
		health_note(HEALTH_cupti_flawed, "CUPTI 13.0 before 13.0.85 may crash and omits cudaDeviceSynchronize; use 13.0.85");
	choose_mode();
	cupti_buffers_init(guest->config.buffer_limit);
	tracer.bound = 1;
	return 0;
}

bool cupti_bind_early(void *fn)
{
	Dl_info info;
	void *lib;

	if (tracer.decided || tracer.bound)
		return !tracer.decided;
	lib = dladdr(fn, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW) : NULL;
	return bind(lib) == 0;
}

/* After a refusal CUPTI is not called again: each call would search for the driver again. */
static int subscribe(void)
{
	void *subscriber = NULL;
	int result;

	if (tracer.subscriber)  /* the client came first and subscribed with cupti_callback() */
		return 0;
	result = tracer.fn.Subscribe(&subscriber, cupti_callback, NULL);
	if (result == RESULT_OK) {
		tracer.subscriber = subscriber;
		return 0;
	}
	if (result == RESULT_BUSY)
		say_holder();
	else
		tracer_error("cuptiSubscribe", result);
	return -1;
}

/* Binds libcupti, subscribes, asks for the version.  No call that needs the driver comes before the subscription. */
static int attach(uint32_t driver)
{
	void *lib = tracer.bound ? NULL : cupti_find(driver);

	if (lib && cupti_crashes(lib, driver)) {
		health_note(HEALTH_cupti_error, "libcupti of CUDA 13.2 crashes with a driver of CUDA %u.%u; use a driver of 13.0 or later",
			    driver / 1000, driver % 1000 / 10);
		return -1;
	}
	if (!tracer.bound && bind(lib) < 0)
		return -1;
	if (subscribe() < 0)
		return -1;
	if (tracer.version || ask_version() == 0)
		return 0;
	if (!cupti_client.subscribed && tracer.fn.Unsubscribe) {
		tracer.fn.Unsubscribe(tracer.subscriber);
		tracer.subscriber = NULL;
	}
	return -1;
}

bool tracer_set_attribute(int attribute, uint8_t value)
{
	size_t size = sizeof value;

	return tracer.fn.ActivitySetAttribute && tracer.fn.ActivitySetAttribute(attribute, &size, &value) == RESULT_OK;
}

/*
 * Chooses one buffer for all threads or one per thread, before the buffer callbacks are registered.  Up to 12.2 there is one for all; from
 * 13.0 on, one per thread by default.  In between, one per thread only from 12.8 on: up to 12.6 Update 1 a flush could damage buffers that
 * other threads were filling, and all releases of 12.6 report the same version.
 */
static void choose_buffers(void)
{
	uint8_t each = cupti_buffers_for_each_thread();

	tracer.per_thread = tracer_each_thread();
	if (tracer.version >= SAFE_EACH_THREAD && tracer_set_attribute(ATTRIBUTE_PER_THREAD, each))
		tracer.per_thread = each;
	tracer_set_attribute(ATTRIBUTE_ZEROED, 1);
	/* Fails under confidential computing, which has no pinned memory. */
	if (tracer.version < SAFE_DEVICE_BUFFERS && !tracer_set_attribute(ATTRIBUTE_HOST_PINNED, 1) && tracer.version > DEVICE_BUFFERS)
		health_note(HEALTH_cupti_flawed, "CUPTI before 13.0.85 may crash in long runs with CUDA graphs; use 13.0.85");
}

static int start_activity(void)
{
	bool profiled = cupti_client.n_kinds;   /* the client has kinds enabled */
	int result = profiled ? RESULT_OK : tracer.fn.SetThreadIdType(THREAD_ID_SYSTEM);

	if (result != RESULT_OK)
		tracer_error("cuptiSetThreadIdType", result);
	if (!profiled)
		choose_buffers();
	result = tracer.fn.ActivityRegisterCallbacks(cupti_activity_request, cupti_activity_complete);
	if (result != RESULT_OK)
		tracer_error("cuptiActivityRegisterCallbacks", result);
	return result;
}

static bool may_sleep(void)
{
	const struct config *c = &guest->config;
	bool later = c->start_later || c->delay_ms || c->capture_range || c->schedule[0];

	return later && !tracer_keeps_kinds(tracer.version) && tracer.fn.ActivityDisable && !windows_want_cuda();
}

static void start_up(uint32_t driver)
{
	int result;

	if (attach(driver) < 0)
		return;
	tracer.pid = session_real_pid();
	cupti_buffers_init(guest->config.buffer_limit); /* in a child forked after the library was bound there is no pool */
	/* Before callbacks are enabled: they check the state. */
	__atomic_store_n(&tracer.state, TRACER_UP, __ATOMIC_RELEASE);
	result = start_activity();
	cupti_resource_enable();
	cupti_api_enable();
	if (may_sleep()) {
		cupti_activity_sleep();
		windows_sleeper(cupti_flush_wake);
	}
	if (result == RESULT_OK && !cupti_yield_holds())
		cupti_activity_enable();
	cupti_share_settle();
	session_flag(PROCESS_CUPTI);
	lifecycle_at_exit();
}

static void start(void)
{
	uint32_t driver = cupti_driver_version();

	if (cupti_driver_simulated())
		session_flag(PROCESS_SIMULATED);
	cupti_client_lock();
	start_up(driver);
	tracer.decided = 1;
	cupti_client_unlock();
	describe(driver);
}

void cupti_start(void)
{
	static uint32_t started;
	int saved = errno;
	int64_t begin;

	session_flag(PROCESS_CUDA);
	if (__atomic_exchange_n(&started, 1, __ATOMIC_ACQ_REL) || tracer.parent_had_cuda || !session_connect())
		return;
	begin = clock_now();
	stacks_start();
	if (guest->config.trace_cuda)
		start();
	health_cost(COST_cupti, begin);
	errno = saved;
}

/* ---- stop ---- */

/*
 * Before exit or exec.  The first call delivers what CUPTI holds, later ones what came since.  CUPTI stays subscribed: other threads may
 * be inside it, and unsubscribing would wait for them.
 */
static void stop(void)
{
	struct arena *a = guest->arena;
	int64_t begin = clock_now();
	uint32_t running = LIFE_RUNNING;

	if (!a || !tracer_usable() || !cupti_flush_needed())
		return;
	tracer.ending = 1;
	cupti_share_stop();
	__atomic_compare_exchange_n(&a->life, &running, LIFE_DRAINING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	cupti_flush_wait(FLUSH_FORCED);
	health_cost(COST_drain, begin);
}

static void forked(void)
{
	if (tracer.pid) {
		tracer.parent_had_cuda = 1;
		cupti_client_forget();
		cupti_activity_forget();
		windows_sleeper(NULL);  /* the parent's CUPTI must not be called */
	}
	if (tracer.parent_had_cuda)
		session_forked_after_cuda();
	tracer.pid = 0;
	tracer.state = TRACER_OFF;
	tracer.called = tracer.ending = tracer.ready = tracer.wake_due = 0;
	cupti_api_forget();
	cupti_buffers_forget();
	cupti_flush_forget();
}

const struct module cupti_module = { .stop = stop, .forked = forked };
