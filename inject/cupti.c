#include "inject/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/cupti_activity.h"
#include "inject/cupti_api.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_client.h"
#include "inject/cupti_flush.h"
#include "inject/cupti_resource.h"
#include "inject/cupti_share.h"
#include "inject/cupti_yield.h"
#include "inject/intern.h"
#include "inject/lifecycle.h"
#include "inject/stacks.h"
#include "inject/windows.h"

struct tracer tracer;

bool tracer_usable(void)
{
	return __atomic_load_n(&tracer.state, __ATOMIC_ACQUIRE) == TRACER_UP && tracer.pid == session_real_pid();
}

void tracer_error(const char *call, int result)
{
	const char *text = NULL;

	if (tracer.fn.GetResultString(result, &text) != RESULT_OK || !text)
		text = "error";
	health_note(HEALTH_cupti_error, "%s: %s (%d)", call, text, result);
}

/* errno: an API row makes no system call that could change it, and the rest saves it. */
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

void cupti_callback(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user;
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

static int bind(void *lib)
{
	if (!lib || cupti_bind(&tracer.fn, lib) < 0)
		return -1;
	if (tracer.fn.GetVersion(&tracer.version) != RESULT_OK)
		tracer.version = 0;
	if (cupti_layouts_choose(&tracer.layout, tracer.version) < 0) {
		health_note(HEALTH_cupti_symbol, "version %u is older than that of CUDA 11.0", tracer.version);
		return -1;
	}
	if (tracer.version == FLAWED_VERSION)
		health_note(HEALTH_cupti_flawed, "13.0 before Update 1: no rows for cudaDeviceSynchronize, crashes; 13.0.85 has neither");
	/* Disabling kernels may hang there, which yielding would have to. */
	if (tracer.version == FLAWED_VERSION && guest->config.cupti_mode == CUPTI_YIELD)
		guest->config.cupti_mode = CUPTI_SHARE;
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

/* After a refusal CUPTI is not called again: each call would look for the driver anew. */
static int subscribe(void)
{
	char holder[HOLDER_NAME_SIZE] = "";
	struct cupti_subscriber_params params = {
		.size = sizeof params, .name = "gprof-run", .old_name = holder, .old_size = sizeof holder,
	};
	int result = -1;

	if (tracer.subscriber)  /* the program's own profiler came first, and subscribed with our callback */
		return 0;
	if (tracer.fn.Subscribe_v2)
		result = tracer.fn.Subscribe_v2(&tracer.subscriber, cupti_callback, NULL, &params);
	if (result != RESULT_OK && result != RESULT_BUSY && result != RESULT_UNKNOWN && result != RESULT_NOT_INITIALIZED)
		result = tracer.fn.Subscribe(&tracer.subscriber, cupti_callback, NULL);
	if (result == RESULT_OK)
		return 0;
	if (result == RESULT_BUSY)
		health_note(HEALTH_cupti_busy, "%s", holder[0] ? holder : "its name is not known");
	else
		tracer_error("cuptiSubscribe", result);
	return -1;
}

/* Before the buffers' callbacks are registered.  Up to 12.1 there is one buffer for all; from 13.0 on one for each unless told not to. */
static void choose_buffers(void)
{
	uint8_t each = cupti_buffers_for_each_thread();
	size_t size = sizeof each;

	tracer.per_thread = tracer.version >= EACH_THREAD_VERSION;
	if (tracer.fn.ActivitySetAttribute && tracer.fn.ActivitySetAttribute(ATTRIBUTE_PER_THREAD, &size, &each) == RESULT_OK)
		tracer.per_thread = each;
}

static int start_activity(void)
{
	bool profiled = cupti_client.n_kinds;   /* by the program itself, already */
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

/*
 * 12.4 Update 1 and 12.5 lose the kernels of modules that were loaded before kernels were switched on; switching them off may hang in 13.0
 * before Update 1.
 */
static bool may_sleep(void)
{
	const struct config *c = &guest->config;
	bool later = c->start_later || c->delay_ms || c->capture_range || c->schedule[0];

	return later && tracer.version != 22 && tracer.version != 23 && tracer.version != FLAWED_VERSION &&
	       tracer.fn.ActivityDisable && !windows_want_cuda();
}

static void start_up(uint32_t driver)
{
	int result;

	if ((!tracer.bound && bind(cupti_find(driver)) < 0) || subscribe() < 0)
		return;
	tracer.pid = session_real_pid();
	cupti_buffers_init(guest->config.buffer_limit); /* a child forked since the library was bound has none */
	/* Before the callbacks, which ask for it. */
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
 * The program ends, or replaces itself.  Whoever is asked first delivers what CUPTI holds; the next only what came since.  CUPTI stays
 * subscribed: other threads may be inside it, and unsubscribing waits for them.
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
		windows_sleeper(NULL);  /* its CUPTI is not to be called any more */
	}
	if (tracer.parent_had_cuda)
		session_forked_after_cuda();
	tracer.pid = 0;
	tracer.state = TRACER_OFF;
	tracer.called = tracer.ending = 0;
	cupti_api_forget();
	cupti_buffers_forget();
	cupti_flush_forget();
}

const struct module cupti_module = { .stop = stop, .forked = forked };
