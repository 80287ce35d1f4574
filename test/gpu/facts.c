/*
 * Asks a real driver and CUPTI what their documents leave open, as CUDA_INJECTION64_PATH and, preloaded, as what facts.cu calls.  Each
 * answer is a line in the file GPU_CHECK_REPORT, written before the next question: whatever hangs or crashes, the lines before it stay.
 * With GPU_CHECK_SETENV set the constructor sets the driver's variable itself.
 */
#include "client.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "facts.h"

#define API(X)                                                                                                   \
	X(cuptiGetVersion) X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiActivityRegisterCallbacks)                \
	X(cuptiActivityEnable) X(cuptiActivityDisable) X(cuptiActivityGetNextRecord) X(cuptiActivityFlushAll)        \
	X(cuptiGetTimestamp) X(cuptiActivityGetAttribute)

API(CLIENT_POINTER)

int InitializeInjection(void);

static CUpti_SubscriberHandle subscriber;
static bool preloaded;                  /* the constructor of this copy ran before the driver came */
static int initialized;                 /* calls of InitializeInjection */
static atomic_int exits;

/* The driver's own functions, without linking it. */
static int driver(const char *name, void *out)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*fn)(void *) = library ? (int (*)(void *))dlsym(library, name) : NULL;

	return fn ? fn(out) : -1;
}

/* CUPTI's clock against CLOCK_REALTIME: the reading with the least time around it, of twenty. */
static void report_clock(const char *when)
{
	int64_t best = INT64_MAX, offset = 0;

	for (int i = 0; i < 20; i++) {
		struct timespec a, b;
		uint64_t t = 0;
		int64_t before, after;

		clock_gettime(CLOCK_REALTIME, &a);
		p_cuptiGetTimestamp(&t);
		clock_gettime(CLOCK_REALTIME, &b);
		before = a.tv_sec * 1000000000ll + a.tv_nsec;
		after = b.tv_sec * 1000000000ll + b.tv_nsec;
		if (after - before < best) {
			best = after - before;
			offset = (int64_t)t - (before + after) / 2;
		}
	}
	client_report("clock.%s %lld", when, (long long)offset);
}

/* An exit handler: which, whether the driver still answers, and what a flush brings there. */
static void at_exit(const char *where, bool flush)
{
	int version = 0, device = 0, order;

	if (!initialized)
		return;
	order = atomic_fetch_add(&exits, 1) + 1;
	client_report("exit.%s.order %d", where, order);
	client_report("exit.%s.driver_version %d", where, driver("cuDriverGetVersion", &version));
	client_report("exit.%s.context %d", where, driver("cuCtxGetDevice", &device));
	if (flush) {
		uint64_t before = records_total();

		client_report("exit.%s.flush %d", where, p_cuptiActivityFlushAll(0));
		client_report("exit.%s.records %llu", where, (unsigned long long)(records_total() - before));
		records_report();
	}
}

static void exit_of_constructor(void)
{
	at_exit("constructor", false);
}

static void exit_of_initialize(void)
{
	at_exit("initialize", false);
}

static void exit_of_cu_init(void)
{
	at_exit("cu_init", true);
}

__attribute__((destructor)) static void destructor(void)
{
	if (initialized)
		client_report("exit.destructor.order %d", atomic_fetch_add(&exits, 1) + 1);
}

static void on_resource(CUpti_CallbackId cbid)
{
	static bool created;

	if (cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) {
		report_clock("cu_init");
		atexit(exit_of_cu_init);
	} else if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && !created) {
		created = true;
		report_clock("context");
	} else if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
		client_report("context_destroy after_exits=%d", atomic_load(&exits));
	}
}

/* The last chance before a reset takes the context away, from an API callback, where a flush is allowed. */
static void on_reset(void)
{
	uint64_t before = records_total();

	client_report("reset.flush %d", p_cuptiActivityFlushAll(0));
	client_report("reset.records %llu", (unsigned long long)(records_total() - before));
}

static void called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	const CUpti_CallbackData *d = data;

	(void)user;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		on_resource(cbid);
		return;
	}
	if (d->callbackSite == CUPTI_API_ENTER && domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
	    cbid == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020)
		on_reset();
	calls_saw(domain == CUPTI_CB_DOMAIN_RUNTIME_API, cbid, d);
}

static void enable(void)
{
	static const struct {
		CUpti_CallbackDomain domain;
		CUpti_CallbackId cbid;
	} callbacks[] = {
		{ CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED },
		{ CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED },
		{ CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING },
		{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000 },
		{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000 },
		{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060 },
		{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020 },
		{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel },
		{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx },
	};
	static const int kinds[] = {
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_DEVICE,
		CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM, CUPTI_ACTIVITY_KIND_MEMORY2,
		CUPTI_ACTIVITY_KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_JIT,
	};

	for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
		p_cuptiEnableCallback(1, subscriber, callbacks[i].domain, callbacks[i].cbid);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		client_report("enable.%d %d", kinds[i], p_cuptiActivityEnable((CUpti_ActivityKind)kinds[i]));
}

static void report_attributes(void)
{
	for (int attribute = 0; attribute <= 10 && p_cuptiActivityGetAttribute; attribute++) {
		uint64_t value = 0;
		size_t size = sizeof value;

		if (p_cuptiActivityGetAttribute((CUpti_ActivityAttribute)attribute, &size, &value) == CUPTI_SUCCESS)
			client_report("attribute.%d %llu", attribute, (unsigned long long)value);
	}
}

int InitializeInjection(void)
{
	void *library;
	uint32_t cupti = 0;
	int version = 0, rc;

	client_report("initialize.calls %d", ++initialized);
	if (initialized > 1)
		return 1;
	client_report("initialize.same_copy_as_preloaded %d", preloaded);
	client_report("initialize.in_main_thread %d", getpid() == (int)syscall(SYS_gettid));
	rc = driver("cuDriverGetVersion", &version);
	client_report("initialize.driver_version %d %d", rc, version);
	library = client_open_cupti();
	if (!library) {
		client_report("cupti.missing %s", dlerror());
		return 1;
	}
	API(CLIENT_BIND)
	p_cuptiGetVersion(&cupti);
	client_report("cupti.version %u", cupti);
	report_clock("initialize");
	rc = p_cuptiSubscribe(&subscriber, called, NULL);
	client_report("subscribe %d", rc);
	if (rc)
		return 1;
	records_bind(p_cuptiActivityGetNextRecord);
	p_cuptiActivityRegisterCallbacks(records_request, records_completed);
	enable();
	report_attributes();
	atexit(exit_of_initialize);
	return 1;
}

__attribute__((constructor)) static void constructor(void)
{
	const char *path = getenv("GPU_CHECK_SETENV");

	if (path)
		setenv("CUDA_INJECTION64_PATH", path, 1);
	preloaded = true;
	atexit(exit_of_constructor);
}

void facts_clock(const char *when)
{
	if (initialized)
		report_clock(when);
}

void facts_flush(int forced, const char *when)
{
	uint64_t unfinished = records_unfinished(), total = records_total();

	if (!initialized)
		return;
	client_report("flush.%s %d", when, p_cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0));
	client_report("flush.%s.records %llu", when, (unsigned long long)(records_total() - total));
	client_report("flush.%s.unfinished %llu", when, (unsigned long long)(records_unfinished() - unfinished));
}

/* What switching one kind off and on takes while the program runs, in us. */
void facts_toggle(void)
{
	struct timespec a, b, c;
	int off, on;

	if (!initialized)
		return;
	clock_gettime(CLOCK_MONOTONIC, &a);
	off = p_cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	on = p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	clock_gettime(CLOCK_MONOTONIC, &c);
	client_report("toggle.off %d %.1f", off, (b.tv_sec - a.tv_sec) * 1e6 + (b.tv_nsec - a.tv_nsec) / 1e3);
	client_report("toggle.on %d %.1f", on, (c.tv_sec - b.tv_sec) * 1e6 + (c.tv_nsec - b.tv_nsec) / 1e3);
}
