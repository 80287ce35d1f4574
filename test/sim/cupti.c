/* CUPTI: attaching to the driver, the subscriber, API and resource callbacks. */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_DOMAINS 7
#define N_CBIDS 1024

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *user;
	char name[64];
	bool second_family;             /* subscribed with cuptiSubscribe_v2, release 13.2 or later */
	_Atomic bool on;
	_Atomic uint8_t enabled[N_DOMAINS][N_CBIDS];
};

static const char *const runtime_names[N_CBIDS] = {
#include "cbid_runtime.h"
};
static const char *const driver_names[N_CBIDS] = {
#include "cbid_driver.h"
};

const struct sim_driver *drv;
/* From 13.3 on a subscriber of the first family of functions does not exclude one of the second; it takes the second entry. */
static struct CUpti_Subscriber_st subscribers[2];
#define FIRST (&subscribers[0])
static _Atomic bool ended, fatal, context_seen;
static __thread int callback_depth;
static __thread uint32_t callback_domain;

uint32_t cupti_version(void)
{
	static _Atomic uint32_t version;

	if (!version)
		version = replay_on() ? replay_version() : sim_release_version();
	return version;
}

/* The toolkit version in the form of the suffixes of runtime callback names: 11080 for 11.8. */
static long toolkit(void)
{
	static const struct { uint32_t version; long toolkit; } table[] = {
		{ 17, 11070 }, { 18, 11080 }, { 19, 12010 }, { 20, 12020 }, { 21, 12030 }, { 22, 12040 },
		{ 23, 12050 }, { 24, 12060 }, { 26, 12080 }, { 28, 12090 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (cupti_version() <= table[i].version)
			return table[i].toolkit;
	return 99999;
}

uint64_t cupti_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void cupti_pay(void)
{
	static _Atomic int64_t cost = -1;
	uint64_t until;

	if (cost < 0) {
		const char *value = getenv("SIM_CUPTI_COST_NS");

		cost = value ? atoll(value) : 0;
	}
	if (!cost)
		return;
	for (until = cupti_now() + (uint64_t)cost; cupti_now() < until; )
		;
}

bool cupti_at_end(void)
{
	return ended;
}

bool cupti_in_callback(void)
{
	return callback_depth && callback_domain != CUPTI_CB_DOMAIN_RUNTIME_API &&
	       callback_domain != CUPTI_CB_DOMAIN_DRIVER_API;
}

static void tell_one(const struct CUpti_Subscriber_st *s, uint32_t domain, uint32_t cbid, const void *data)
{
	uint32_t outer = callback_domain;

	callback_domain = domain;
	callback_depth++;
	cupti_pay();
	s->callback(s->user, (CUpti_CallbackDomain)domain, cbid, data);
	callback_depth--;
	callback_domain = outer;
}

static bool wants(const struct CUpti_Subscriber_st *s, uint32_t domain, uint32_t cbid)
{
	return s->on && cbid < N_CBIDS && s->enabled[domain][cbid];
}

static bool wanted(uint32_t domain, uint32_t cbid)
{
	return wants(&subscribers[0], domain, cbid) || wants(&subscribers[1], domain, cbid);
}

static void tell(uint32_t domain, uint32_t cbid, const void *data)
{
	for (int i = 0; i < 2; i++)
		if (wants(&subscribers[i], domain, cbid))
			tell_one(&subscribers[i], domain, cbid, data);
}

/* A subscriber that got a call's ENTER callback also gets its EXIT callback, even if the callback was disabled between them. */
static void tell_call(const struct sim_call *call, CUpti_CallbackData *data)
{
	static __thread uint64_t word;

	for (int i = 0; i < 2; i++) {
		if (!(call->told >> i & 1) || !subscribers[i].on)
			continue;
		if (i)
			data->correlationData = &word;
		tell_one(&subscribers[i], call->domain, call->cbid, data);
	}
}

/* SIM_FATAL_AFTER=N: at the Nth API callback CUPTI reports FATAL_ERROR; every later call returns CUPTI_ERROR_UNKNOWN. */
static void maybe_fatal(void)
{
	static _Atomic int64_t left = -1;
	CUpti_StateData data = { .notification = { CUPTI_ERROR_UNKNOWN, "simulated fatal error" } };

	if (left < 0) {
		const char *value = getenv("SIM_FATAL_AFTER");

		left = value ? atoll(value) : 0;
	}
	if (!left || --left)
		return;
	if (wanted(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR))
		tell(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
	fatal = true;
	FIRST->on = false;
	memset((void *)kind_on, 0, sizeof(kind_on));
}

static void on_api(struct sim_call *call, bool exit)
{
	CUpti_CallbackData data = {
		.callbackSite = exit ? CUPTI_API_EXIT : CUPTI_API_ENTER,
		.functionName = call->name,
		.functionParams = call->params,
		.functionReturnValue = exit ? call->ret : NULL,
		.symbolName = call->symbol,
		.context = (CUcontext)call->ctx,
		.contextUid = call->ctx ? call->ctx->id : 0,
		.correlationData = &call->data,
		.correlationId = call->corr,
	};

	if (!exit) {
		activity_enter(call);
		call->told = wants(&subscribers[0], call->domain, call->cbid) |
			     wants(&subscribers[1], call->domain, call->cbid) << 1;
	}
	if (call->told)
		tell_call(call, &data);
	if (exit)
		activity_api(call);
	if (call->told && exit)
		maybe_fatal();
}

void cupti_state(uint32_t cbid, CUptiResult result, const char *message)
{
	CUpti_StateData data = { .notification = { result, message } };

	if (wanted(CUPTI_CB_DOMAIN_STATE, cbid))
		tell(CUPTI_CB_DOMAIN_STATE, cbid, &data);
}

static uint32_t on_context(const struct context *ctx)
{
	context_seen = true;
	clock_context(ctx->id);
	if (replay_on())
		replay_begin();
	return activity_context(ctx);
}

/* SIM_CONTEXT_LOSES=1: GPU records that are undelivered when their context is destroyed are lost. */
static void on_context_gone(const struct context *ctx)
{
	const char *value = getenv("SIM_CONTEXT_LOSES");

	if (value && atoi(value))
		buffer_lose(ctx->id);
}

static bool on_resource(uint32_t cbid, struct context *ctx, struct stream *stream, void *descriptor)
{
	CUpti_ResourceData data = { .context = (CUcontext)ctx, .resourceHandle.stream = (CUstream)stream,
				    .resourceDescriptor = descriptor };

	if (!wanted(CUPTI_CB_DOMAIN_RESOURCE, cbid))
		return false;
	tell(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
	return true;
}

static void on_synchronized(uint32_t cbid, struct context *ctx, struct stream *stream)
{
	CUpti_SynchronizeData data = { .context = (CUcontext)ctx, .stream = (CUstream)stream };

	if (wanted(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid))
		tell(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

static void on_names_go(void)
{
	if (!cupti_in_callback() && !buffer_in_client())
		buffer_flush(true);
}

static void on_end(void)
{
	ended = true;
	buffer_stop();
}

static const struct sim_tools listener = {
	.api = on_api,
	.resource = on_resource,
	.synchronized = on_synchronized,
	.op = activity_op,
	.device_made = activity_device,
	.context_made = on_context,
	.context_gone = on_context_gone,
	.event_recorded = activity_event,
	.stream_made = activity_stream,
	.names_go = on_names_go,
	.ended = on_end,
};

/* SIM_CUPTI_FAIL=cuptiSubscribe=15,cuptiActivityEnable=35: these functions return these errors. */
static CUptiResult chosen_failure(const char *caller)
{
	const char *p = getenv("SIM_CUPTI_FAIL");
	size_t n = strlen(caller);

	for (; p && (p = strstr(p, caller)); p += n)
		if (p[n] == '=')
			return (CUptiResult)atoi(p + n + 1);
	return CUPTI_SUCCESS;
}

static const char *holder(void)
{
	const char *other = getenv("SIM_CUPTI_HOLDER");

	return other && *other ? other : NULL;
}

/* Without a driver of 13.0 or later, CUPTI 13.2 recurses endlessly in its error path: SIGSEGV. */
static void maybe_recurse(bool driver)
{
	const char *version = getenv("SIM_DRIVER_VERSION");

	if ((!driver || (version && atoi(version) < 13000)) && sim_release() >= RELEASE(13, 2, 0) && sim_release() < RELEASE(13, 3, 0))
		raise(SIGSEGV);
}

static bool attach(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct sim_driver *(*get)(void) = NULL;
	void *lib;

	pthread_mutex_lock(&lock);
	if (!drv) {
		lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
		if (lib)
			*(void **)&get = dlsym(lib, "sim_driver");
		if (get && get()->abi == SIM_ABI) {
			drv = get();
			drv->attach(&listener);
		}
	}
	pthread_mutex_unlock(&lock);
	maybe_recurse(drv);
	return drv;
}

/* Loads the driver at first use, as the real library does.  CUPTI_ERROR_UNKNOWN (999): no simulated driver found. */
CUptiResult cupti_ready(const char *caller)
{
	if (ended)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (fatal)
		return CUPTI_ERROR_UNKNOWN;
	return attach() ? chosen_failure(caller) : CUPTI_ERROR_UNKNOWN;
}

/* For functions that work without a driver up to 13.1.  From 13.2 on they need it, and return 39 if another tool holds CUPTI. */
static CUptiResult dispatched(const char *caller)
{
	CUptiResult rc = chosen_failure(caller);

	if (rc || sim_release() < RELEASE(13, 2, 0))
		return rc;
	if (holder())
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (!attach())
		return CUPTI_ERROR_UNKNOWN;
	maybe_recurse(drv->usable() != CUDA_ERROR_NOT_INITIALIZED);
	return CUPTI_SUCCESS;
}

#define DISPATCHED() do { CUptiResult r_ = dispatched(__func__); if (r_) return r_; } while (0)

CUptiResult cuptiGetVersion(uint32_t *version)
{
	DISPATCHED();
	*version = cupti_version();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	const char *early = getenv("SIM_CLOCK_EARLY_NS");

	DISPATCHED();
	*timestamp = cupti_now();
	/* SIM_CLOCK_EARLY_NS=N: off by N until the first context exists, as in CUDA 13. */
	if (early && !context_seen)
		*timestamp += strtoull(early, NULL, 0);
	return CUPTI_SUCCESS;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user,
			     const CUpti_SubscriberParams *p, bool second_family)
{
	struct CUpti_Subscriber_st *s = FIRST;

	if (!out || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (sim_release() >= RELEASE(13, 3, 0) && FIRST->on && FIRST->second_family && !second_family)
		s = &subscribers[1];
	if (s->on || holder()) {
		if (p && p->oldSubscriberName)
			snprintf(p->oldSubscriberName, p->oldSubscriberSize, "%s", s->on ? s->name : holder());
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	}
	s->callback = callback;
	s->user = user;
	s->second_family = second_family;
	snprintf(s->name, sizeof(s->name), "CUPTI for %.53s", p && p->subscriberName ? p->subscriberName : "");
	s->on = true;
	*out = s;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user)
{
	READY();
	return subscribe(out, callback, user, NULL, false);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user,
			      CUpti_SubscriberParams *p)
{
	READY();
	if (cupti_version() < 130000)
		return CUPTI_ERROR_NOT_SUPPORTED;
	return subscribe(out, callback, user, p, sim_release() >= RELEASE(13, 2, 0));
}

static bool is_subscriber(const struct CUpti_Subscriber_st *s)
{
	return (s == &subscribers[0] || s == &subscribers[1]) && s->on;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	READY();
	if (!is_subscriber(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	handle->on = false;
	memset((void *)handle->enabled, 0, sizeof(handle->enabled));
	return CUPTI_SUCCESS;
}

/* NULL: unknown id, or a runtime function newer than the simulated toolkit. */
static const char *callback_name(uint32_t domain, uint32_t cbid)
{
	const char *name, *suffix;

	if (cbid >= N_CBIDS)
		return NULL;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		return driver_names[cbid];
	if (domain != CUPTI_CB_DOMAIN_RUNTIME_API)
		return NULL;
	name = runtime_names[cbid];
	suffix = name ? strrchr(name, 'v') : NULL;
	return suffix && atol(suffix + 1) <= toolkit() ? name : NULL;
}

static bool callback_known(uint32_t domain, uint32_t cbid)
{
	static const uint32_t size[N_DOMAINS] = {
		[CUPTI_CB_DOMAIN_RESOURCE] = CUPTI_CBID_RESOURCE_SIZE,
		[CUPTI_CB_DOMAIN_SYNCHRONIZE] = CUPTI_CBID_SYNCHRONIZE_SIZE,
		[CUPTI_CB_DOMAIN_NVTX] = N_CBIDS,
		[CUPTI_CB_DOMAIN_STATE] = CUPTI_CBID_STATE_SIZE,
	};

	if (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return callback_name(domain, cbid);
	return domain < N_DOMAINS && cbid && cbid < size[domain];
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	DISPATCHED();
	*name = callback_name(domain, cbid);
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* Number of threads that switch callbacks.  CUPTI requires the client to serialize these calls. */
static _Atomic int switching;

/* SIM_SWITCH_US=N: switching callbacks takes N us. */
static void switch_begin(const char *caller)
{
	const char *us = getenv("SIM_SWITCH_US");

	if (switching++) {
		fprintf(stderr, "sim: %s in two threads at once\n", caller);
		abort();
	}
	if (us)
		nanosleep(&(struct timespec){ .tv_nsec = atol(us) * 1000 }, NULL);
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
				CUpti_CallbackId cbid)
{
	READY();
	if (!is_subscriber(handle) || !callback_known(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch_begin(__func__);
	handle->enabled[domain][cbid] = enable != 0;
	switching--;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	READY();
	if (!is_subscriber(handle) || !domain || domain >= N_DOMAINS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch_begin(__func__);
	for (uint32_t i = 0; i < N_CBIDS; i++)
		handle->enabled[domain][i] = enable && callback_known(domain, i);
	switching--;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult rc = CUPTI_SUCCESS;

	for (uint32_t d = 1; d < N_DOMAINS && !rc; d++)
		rc = cuptiEnableDomain(enable, handle, (CUpti_CallbackDomain)d);
	return rc;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
				  CUpti_CallbackId cbid)
{
	READY();
	if (!is_subscriber(handle) || !callback_known(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = handle->enabled[domain][cbid];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
	READY();
	buffer_flush(true);
	buffer_stop();
	subscribers[0].on = subscribers[1].on = false;
	memset((void *)kind_on, 0, sizeof(kind_on));
	drv->attach(NULL);
	drv = NULL;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct { int code; const char *text; } table[] = {
#include "cupti_results.h"
	};

	DISPATCHED();
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].code == (int)result) {
			*text = table[i].text;
			return CUPTI_SUCCESS;
		}
	*text = NULL;
	return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}
