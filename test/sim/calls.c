/* Entering and leaving API calls, the attached tool, the driver's beginning and end. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cupti_callbacks.h>

enum { NOT_STARTED, STARTING, RUNNING, ENDED };

static _Atomic(const struct sim_tools *) attached;
static _Atomic int phase;
static _Atomic bool forked;
static _Atomic uint32_t last_corr;
static pthread_mutex_t init_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int init_result;
static __thread struct sim_call *innermost;

uint64_t sim_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t sim_env(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

const struct sim_tools *tools(void)
{
	return attached;
}

void call_attach(const struct sim_tools *t)
{
	attached = t;
}

/* What a call made now must answer: 0 when the driver is up. */
int driver_usable(void)
{
	int now = phase;

	if (forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	switch (now) {
	case NOT_STARTED:
		return CUDA_ERROR_NOT_INITIALIZED;
	case ENDED:
		return CUDA_ERROR_DEINITIALIZED;
	default:
		return init_result;
	}
}

bool driver_at_exit(void)
{
	return phase == ENDED;
}

static void driver_end(void)
{
	const struct sim_tools *t = attached;

	if (forked)
		return;
	truth_event("driver atexit");
	phase = ENDED;
	if (t)
		t->ended();
}

/* A child forked after cuInit has no GPU. */
static void driver_forked(void)
{
	if (phase != NOT_STARTED)
		forked = true;
	innermost = NULL;
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *lib;

	if (!path || !*path)
		return;
	lib = dlopen(path, RTLD_NOW);
	if (!lib) {
		if (getenv("SIM_VERBOSE"))
			fprintf(stderr, "sim: %s\n", dlerror());
		return;
	}
	*(void **)&initialize = dlsym(lib, "InitializeInjection");
	if (initialize)
		truth_event(initialize() ? "InitializeInjection" : "InitializeInjection refused");
}

/*
 * In the order of the real one: the driver's own atexit handler stands before the injection runs, so a handler that
 * the injection registers runs first.  Synchronous, on the calling thread, before cuInit returns.
 */
int driver_init(void)
{
	const struct sim_tools *t;

	if (forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (phase == ENDED)
		return CUDA_ERROR_DEINITIALIZED;
	pthread_mutex_lock(&init_lock);
	if (phase != NOT_STARTED) {
		pthread_mutex_unlock(&init_lock);
		return init_result;
	}
	phase = STARTING;
	last_corr = (uint32_t)sim_env("SIM_CORRELATION_START", 0);
	pthread_atfork(NULL, NULL, driver_forked);
	if (sim_env("SIM_NO_DEVICE", 0) || !engine_start()) {
		init_result = CUDA_ERROR_NO_DEVICE;
	} else {
		atexit(driver_end);
		inject();
		for (int i = 0; (t = attached) && i < device_count(); i++) {
			truth_device(device_get(i));
			t->device_made(device_get(i));
		}
	}
	phase = RUNNING;
	if (!init_result && (t = attached))
		t->resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, NULL, NULL, NULL);
	pthread_mutex_unlock(&init_lock);
	return init_result;
}

uint32_t call_correlation(void)
{
	return innermost ? innermost->corr : 0;
}

/* A driver call inside a runtime call carries the runtime call's correlation id. */
void call_enter(struct sim_call *call)
{
	const struct sim_tools *t = attached;

	call->outer = innermost;
	call->corr = innermost ? innermost->corr : ++last_corr;
	call->ctx = *context_slot();
	call->data = 0;
	call->told = false;
	innermost = call;
	call->begin = sim_now();
	if (t && phase == RUNNING)
		t->api(call, false);
}

void call_leave(struct sim_call *call)
{
	const struct sim_tools *t = attached;

	call->ctx = *context_slot();
	call->end = sim_now();
	if (t && phase == RUNNING)
		t->api(call, true);
	innermost = call->outer;
	truth_call(call);
}

static const struct sim_driver driver = {
	.abi = SIM_ABI,
	.attach = call_attach,
	.usable = driver_usable,
	.enter = call_enter,
	.leave = call_leave,
	.current = context_current,
	.primary_current = context_primary_current,
	.runtime_device = runtime_device,
	.stream = stream_get,
	.function = module_function,
	.module = module_new,
	.is_device_memory = memory_is_device,
	.serialize_kernels = engine_serialize_kernels,
	.each_device = engine_each_device,
	.each_context = engine_each_context,
	.each_stream = engine_each_stream,
	.graph_id = graph_id,
	.node_id = graph_node_id,
};

/* By its name alone a tool can tell that this is no real driver. */
int sim_is_simulated(void)
{
	return 1;
}

const struct sim_driver *sim_driver(void)
{
	return &driver;
}
