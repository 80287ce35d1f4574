/* CUPTI: attaching to the driver, the subscriber, API and resource callbacks. */
#include "test/sim/tool.h"

#include <dlfcn.h>
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
};

static const char *const runtime_names[N_CBIDS] = {
#include "cbid_runtime.h"
};
static const char *const driver_names[N_CBIDS] = {
#include "cbid_driver.h"
};

const struct sim_driver *drv;
static struct CUpti_Subscriber_st subscriber;
static _Atomic bool subscribed, ended, fatal, context_seen;
static _Atomic uint8_t enabled[N_DOMAINS][N_CBIDS];
static __thread int callback_depth;
static __thread uint32_t callback_domain;

uint32_t cupti_version(void)
{
	static _Atomic uint32_t version;

	if (!version) {
		const char *value = getenv("SIM_CUPTI_VERSION");

		version = replay_on() ? replay_version() : value && *value ? (uint32_t)strtoul(value, NULL, 0) : CUPTI_API_VERSION;
	}
	return version;
}

/* The toolkit as runtime callback names carry it: 11080 for 11.8. */
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

static void tell(uint32_t domain, uint32_t cbid, const void *data)
{
	uint32_t outer = callback_domain;

	callback_domain = domain;
	callback_depth++;
	cupti_pay();
	subscriber.callback(subscriber.user, (CUpti_CallbackDomain)domain, cbid, data);
	callback_depth--;
	callback_domain = outer;
}

static bool wanted(uint32_t domain, uint32_t cbid)
{
	return subscribed && cbid < N_CBIDS && enabled[domain][cbid];
}

/* SIM_FATAL_AFTER=N: at the Nth API callback CUPTI gives up, says so, and answers every later call with an error. */
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
	subscribed = false;
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
		call->told = wanted(call->domain, call->cbid);
	}
	if (call->told && subscribed)
		tell(call->domain, call->cbid, &data);
	if (exit)
		activity_api(call);
	if (call->told && exit)
		maybe_fatal();
}

static void on_context(const struct context *ctx)
{
	context_seen = true;
	if (replay_on())
		replay_begin();
	activity_context(ctx);
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
	.stream_made = activity_stream,
	.names_go = on_names_go,
	.ended = on_end,
};

/* SIM_CUPTI_FAIL=cuptiSubscribe=15,cuptiActivityEnable=35 */
static CUptiResult chosen_failure(const char *caller)
{
	const char *p = getenv("SIM_CUPTI_FAIL");
	size_t n = strlen(caller);

	for (; p && (p = strstr(p, caller)); p += n)
		if (p[n] == '=')
			return (CUptiResult)atoi(p + n + 1);
	return CUPTI_SUCCESS;
}

/* Like the real one, loads the driver at first use and answers 999 where there is none it knows. */
CUptiResult cupti_ready(const char *caller)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct sim_driver *(*get)(void) = NULL;
	void *lib;

	if (ended)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (fatal)
		return CUPTI_ERROR_UNKNOWN;
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
	return drv ? chosen_failure(caller) : CUPTI_ERROR_UNKNOWN;
}

#define READY() do { CUptiResult r_ = cupti_ready(__func__); if (r_) return r_; } while (0)

CUptiResult cuptiGetVersion(uint32_t *version)
{
	*version = cupti_version();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	const char *early = getenv("SIM_CLOCK_EARLY_NS");

	*timestamp = cupti_now();
	/* Off until there is a context: CUDA 13's clock settles late. */
	if (early && !context_seen)
		*timestamp += strtoull(early, NULL, 0);
	return CUPTI_SUCCESS;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user, const char *name,
			     char *holder, size_t holder_size)
{
	const char *other = getenv("SIM_CUPTI_HOLDER");

	if (!out || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (subscribed || (other && *other)) {
		if (holder)
			snprintf(holder, holder_size, "%s", subscribed ? subscriber.name : other);
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	}
	subscriber.callback = callback;
	subscriber.user = user;
	snprintf(subscriber.name, sizeof(subscriber.name), "CUPTI for %.53s", name ? name : "");
	subscribed = true;
	*out = &subscriber;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user)
{
	READY();
	return subscribe(out, callback, user, NULL, NULL, 0);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user,
			      CUpti_SubscriberParams *p)
{
	READY();
	if (cupti_version() < 130000)
		return CUPTI_ERROR_NOT_SUPPORTED;
	return subscribe(out, callback, user, p ? p->subscriberName : NULL, p ? p->oldSubscriberName : NULL,
			 p ? p->oldSubscriberSize : 0);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	READY();
	if (handle != &subscriber || !subscribed)
		return CUPTI_ERROR_INVALID_PARAMETER;
	subscribed = false;
	memset((void *)enabled, 0, sizeof(enabled));
	return CUPTI_SUCCESS;
}

/* A runtime callback of a toolkit newer than the version played is not known. */
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
	*name = callback_name(domain, cbid);
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
				CUpti_CallbackId cbid)
{
	READY();
	if (handle != &subscriber || !subscribed || !callback_known(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	enabled[domain][cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	READY();
	if (handle != &subscriber || !subscribed || !domain || domain >= N_DOMAINS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = 0; i < N_CBIDS; i++)
		enabled[domain][i] = enable && callback_known(domain, i);
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
	if (handle != &subscriber || !callback_known(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = enabled[domain][cbid];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
	READY();
	buffer_flush(true);
	buffer_stop();
	subscribed = false;
	memset((void *)kind_on, 0, sizeof(kind_on));
	drv->attach(NULL);
	drv = NULL;
	return CUPTI_SUCCESS;
}

/* ---- ids ---- */

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	READY();
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = ((struct context *)context)->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	struct context *ctx = (struct context *)context;

	READY();
	if (!ctx)
		ctx = drv->current();
	if (!ctx)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = (uint32_t)ctx->dev->ordinal;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	struct context *ctx = (struct context *)context;
	struct stream *s;

	READY();
	if (!ctx)
		ctx = drv->current();
	s = ctx ? drv->stream(ctx, !stream && per_thread ? CU_STREAM_PER_THREAD : stream) : NULL;
	if (!s)
		return ctx ? CUPTI_ERROR_INVALID_STREAM : CUPTI_ERROR_INVALID_CONTEXT;
	*id = s->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	READY();
	*id = drv->graph_id(graph, false);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
	READY();
	*id = drv->graph_id(exec, true);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	READY();
	*id = drv->node_id(node);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct { int code; const char *text; } table[] = {
#include "cupti_results.h"
	};

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
