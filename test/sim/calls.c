/* Begin and end of API calls, the attached tool, initialization and exit of the driver. */
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
static _Atomic bool initialising;
static __thread bool initialises;
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

/* Returns the error that a driver call returns now; 0: the driver is initialized. */
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

static bool driver_starting(void)
{
	return initialising && !initialises;
}

/* In a child forked after cuInit every driver call fails. */
static void driver_forked(void)
{
	if (phase != NOT_STARTED)
		forked = true;
	innermost = NULL;
	initialising = false;
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

/* SIM_SLOW_INIT_MS=N: cuInit returns N ms after its CU_INIT_FINISHED callback. */
static void finish(void)
{
	const struct sim_tools *t = attached;
	uint64_t ms = sim_env("SIM_SLOW_INIT_MS", 0);

	if (!init_result && t)
		t->resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, NULL, NULL, NULL);
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 }, NULL);
	initialising = initialises = false;
}

/*
 * Same order as the real driver: it registers its atexit handler before it loads the injection library, so handlers that the injection
 * registers run before the driver's.  All of it runs on the calling thread, before cuInit returns.
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
	initialising = initialises = true;
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
	finish();
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
	if (!call->corr)                /* player.c has set it otherwise */
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
	.starting = driver_starting,
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
	.note = truth_event,
	.correlation = call_correlation,
};

/* Tools detect the simulated driver by this symbol; nobody calls it. */
int sim_is_simulated(void)
{
	return 1;
}

const struct sim_driver *sim_driver(void)
{
	return &driver;
}
