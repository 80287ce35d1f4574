/*
 * kineto_client [WORD...]: profiles itself with CUPTI as libkineto does; linked with libcupti.  Prints what it recorded: count and total
 * time of kernels by name, copies, memory sets, calls, external correlations.  Its output must be the same under gprof-run.
 *
 *	cycles=N	N profiles (2); work before, between and after them is not profiled
 *	kernels=N	N kernels in each profile (20)
 *	early		subscribes before cuInit
 *	named		subscribes with a name, by cuptiSubscribe_v2
 *	clock		registers its own clock, and checks that the times of records are within the profile
 *	clockfirst	also registers it before cuInit
 *	otherclock	every second profile has another clock
 *	callbacks	no activity records: counts callbacks, and checks the word that CUPTI keeps for each call
 *			(correlationData)
 *	threads=N	N threads launch the work (1)
 *	inside		unsubscribes in its own callback after the first cycle
 *	finalize	cuptiFinalize() after each cycle, and subscribes again
 *	small		buffers of 1 KiB
 *	refuse		gives CUPTI no buffer
 *	graphs		also enables GRAPH_TRACE (whole graphs)
 *	each=N		requests a buffer per thread (1), a shared buffer (0), or CUPTI's default (2); counts its buffers
 *	noflush		never flushes, but waits for a second at the end
 *	teardown	unsubscribes and finalizes in its own callback after each cycle, as libkineto does with
 *			TEARDOWN_CUPTI=1
 *	single		records only calls of cuLaunchKernel
 *	second		tries to subscribe a second time
 *	stranger	code that gets CUPTI's functions with dlsym tries to subscribe, and uses CUPTI if that succeeds
 *	driven		launches a graph of two kernels outside of each profile
 *	switching	a thread switches callbacks before, during and after cuInit
 *	fork		a forked child also calls CUPTI
 *	forkearly	subscribes, then continues in a child forked before cuInit
 *	toggle=N	prints no tables: N threads switch kinds and callbacks (serialized) and flush, while other threads launch
 *	leave		ends without disabling or unsubscribing anything
 *	atexit		as leave, but an exit handler, registered before the first context, flushes and prints
 */
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData)                   \
	X(cuModuleGetFunction) X(cuMemAlloc_v2) X(cuMemcpyHtoD_v2) X(cuMemsetD32_v2) X(cuStreamCreate)                \
	X(cuLaunchKernel) X(cuStreamSynchronize) X(cuCtxSynchronize) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture)      \
	X(cuGraphInstantiateWithFlags) X(cuGraphLaunch)

#define ull unsigned long long

#define X(fn) static __typeof__(fn) *p_##fn;
NEEDS(X)
#undef X

static const char ptx[] =
	".version 6.0\n.target sm_60\n.address_size 64\n"
#define KERNEL(name)                                                                                             \
	".visible .entry " name "(.param .u64 spin_ns)\n{\n"                                                          \
	" .reg .u64 %t<5>;\n .reg .u32 %n;\n .reg .pred %p<3>;\n"                                                     \
	" ld.param.u64 %t0, [spin_ns];\n mov.u64 %t1, %globaltimer;\n mov.u32 %n, 0;\n"                               \
	"again:\n mov.u64 %t2, %globaltimer;\n sub.u64 %t3, %t2, %t1;\n add.u32 %n, %n, 1;\n"                         \
	" setp.lt.u64 %p0, %t3, %t0;\n setp.lt.u32 %p1, %n, 16777216;\n and.pred %p2, %p0, %p1;\n"                    \
	" @%p2 bra again;\n ret;\n}\n"
	KERNEL("spin_inside") KERNEL("spin_outside");

static struct {
	int cycles, kernels, threads, toggle, each;
	bool early, clock, callbacks, inside, finalize, small, refuse, graphs;
	bool leave, noflush, teardown, second, fork, forkearly, clockfirst, otherclock, stranger, driven, switching, atexit, single, named;
} o = { .cycles = 2, .kernels = 20, .threads = 1, .each = -1 };

static CUcontext ctx;
static CUfunction inside, outside;
static CUdeviceptr memory;
static CUpti_SubscriberHandle subscriber;
static bool subscribed;

static void die(const char *what, int code)
{
	printf("%s: error %d\n", what, code);
	exit(3);
}

#define CU(fn, ...) do { int rc_ = p_##fn(__VA_ARGS__); if (rc_) die(#fn, rc_); } while (0)
#define CUPTI(fn, ...) do { int rc_ = fn(__VA_ARGS__); if (rc_) die(#fn, rc_); } while (0)

static uint64_t own_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) * 3;
}

/* Same speed, other offset. */
static uint64_t other_clock(void)
{
	return own_clock() + 1000000000000000u;
}

static uint64_t (*its_clock)(void) = own_clock;

/* ---- callbacks ---- */

static _Atomic uint64_t told_enter, told_exit, told_contexts, word_lost;
static _Atomic bool leave_now;

static void callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	const CUpti_CallbackData *d = data;

	if (user != &o)
		word_lost++;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		told_contexts += cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED;
		return;
	}
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API || cbid != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
		return;
	if (d->callbackSite == CUPTI_API_ENTER) {
		told_enter++;
		*d->correlationData = 0xfeed0000u + d->correlationId;
	} else {
		told_exit++;
		word_lost += *d->correlationData != 0xfeed0000u + d->correlationId;
		if (leave_now) {
			leave_now = false;
			CUPTI(cuptiUnsubscribe, subscriber);
			if (o.teardown)
				CUPTI(cuptiFinalize);
			subscribed = false;
		}
	}
}

static void subscribe(void)
{
	CUpti_SubscriberParams params = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE, .subscriberName = "kineto_client" };
	int rc = o.named ? cuptiSubscribe_v2(&subscriber, callback, &o, &params) : cuptiSubscribe(&subscriber, callback, &o);

	if (rc)
		die("cuptiSubscribe", rc);
	subscribed = true;
	CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	if (o.callbacks || o.inside || o.teardown)
		CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
}

#include "test/programs/kineto_buffers.h"
#include "test/programs/kineto_found.h"

/* ---- work ---- */

static CUfunction current;

static void *work(void *arg)
{
	unsigned long long ns = 50000;
	unsigned int host[256] = { 0 };
	void *args[] = { &ns };
	CUstream stream;
	int n = *(int *)arg;

	CU(cuCtxSetCurrent, ctx);
	CU(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	CU(cuMemcpyHtoD_v2, memory, host, sizeof host);
	CU(cuMemsetD32_v2, memory, 7, 256);
	for (int i = 0; i < n; i++) {
		if (o.callbacks || o.leave || i % 2) {
			CU(cuLaunchKernel, current, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
			continue;
		}
		cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, (uint64_t)i);
		CU(cuLaunchKernel, current, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
		cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL);
	}
	CU(cuStreamSynchronize, stream);
	return NULL;
}

static void run(CUfunction fn, int n)
{
	pthread_t threads[64];

	current = fn;
	if (o.threads == 1) {
		work(&n);
	} else {
		for (int i = 0; i < o.threads; i++)
			pthread_create(&threads[i], NULL, work, &n);
		for (int i = 0; i < o.threads; i++)
			pthread_join(threads[i], NULL);
	}
	CU(cuCtxSynchronize);
}

/* ---- a profile, in libkineto's order ---- */

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
};

static void switch_all(bool on)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i] == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && !o.graphs)
			continue;
		if (o.single && (kinds[i] == CUPTI_ACTIVITY_KIND_DRIVER || kinds[i] == CUPTI_ACTIVITY_KIND_RUNTIME))
			continue;
		if (on)
			CUPTI(cuptiActivityEnable, kinds[i]);
		else
			CUPTI(cuptiActivityDisable, kinds[i]);
	}
}

static void switch_launches(bool on)
{
	CUPTI(cuptiActivityEnableDriverApi, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, on);
}

static void want_each(uint8_t each)
{
	size_t size = sizeof each;

	CUPTI(cuptiActivitySetAttribute, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &each);
}

/* Waits until CUPTI holds no buffer, at most 1 s. */
static void wait_for_buffers(void)
{
	for (int i = 0; i < 1000 && __atomic_load_n(&n_allocated, __ATOMIC_RELAXED); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	forget_buffers();
}

static void profile(int cycle)
{
	if (!subscribed)
		subscribe();
	its_clock = o.otherclock && cycle % 2 ? other_clock : own_clock;
	if (o.clock)
		CUPTI(cuptiActivityRegisterTimestampCallback, its_clock);
	if (o.each == 0 || o.each == 1)
		want_each((uint8_t)o.each);
	CUPTI(cuptiActivityRegisterCallbacks, requested, completed);
	profile_begin = its_clock();
	switch_all(true);
	if (o.single)
		switch_launches(true);
	/* Warm-up; its records are discarded. */
	run(inside, 3);
	if (n_allocated)
		CUPTI(cuptiActivityFlushAll, 0);
	forget_buffers();
	run(inside, o.kernels);
	if (o.leave || o.atexit)
		exit(0);
	switch_all(false);
	if (o.single)
		switch_launches(false);
	leave_now = o.inside && cycle == 0;
	run(outside, 2);
	profile_end = its_clock();
	/* As libkineto, flushes only if CUPTI holds a buffer. */
	if (o.noflush)
		wait_for_buffers();
	else if (n_allocated)
		CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	parse();
	forget_buffers();
	print(cycle);
	if (o.each >= 0)
		printf("%d: buffers asked for: %d\n", cycle, n_asked);
	if (o.teardown) {
		leave_now = true;
		run(outside, 1);
	}
	if (o.finalize) {
		CUPTI(cuptiUnsubscribe, subscriber);
		CUPTI(cuptiFinalize);
		subscribed = false;
	}
}

static void only_callbacks(void)
{
	run(inside, o.kernels);
	printf("told of %llu launches, %llu ends; words lost: %llu\n", (ull)told_enter, (ull)told_exit,
	       (ull)word_lost);
	CUPTI(cuptiUnsubscribe, subscriber);
	run(outside, 3);
	printf("told of %llu launches after that\n", (ull)(told_enter - (uint64_t)o.kernels * (unsigned)o.threads));
}

/* ---- all at once ---- */

static _Atomic bool enough;
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;  /* CUPTI requires the subscriber to serialize these calls */

static void *toggle(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	while (!enough) {
		CUpti_ActivityKind kind = kinds[(unsigned int)rand_r(&seed) % 8];

		switch (rand_r(&seed) % 6) {
		case 0:
		case 1:
			cuptiActivityEnable(kind);
			break;
		case 2:
		case 3:
			cuptiActivityDisable(kind);
			break;
		case 4:
			cuptiActivityFlushAll((uint32_t)rand_r(&seed) % 2);
			break;
		default:
			pthread_mutex_lock(&switching);
			cuptiEnableDomain((uint32_t)rand_r(&seed) % 2, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
			pthread_mutex_unlock(&switching);
		}
	}
	return NULL;
}

static void toggle_all(void)
{
	pthread_t threads[64];

	CUPTI(cuptiActivityRegisterCallbacks, requested, completed);
	for (int i = 0; i < o.toggle; i++)
		pthread_create(&threads[i], NULL, toggle, (void *)(uintptr_t)(i + 1));
	run(inside, o.kernels);
	enough = true;
	for (int i = 0; i < o.toggle; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		cuptiActivityDisable(kinds[i]);
	CUPTI(cuptiUnsubscribe, subscriber);
	CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	printf("done\n");
}

static void *switch_callbacks(void *arg)
{
	for (uint32_t i = 0; !enough; i++) {
		CUPTI(cuptiEnableDomain, i % 2, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);        /* lets other threads take CUPTI's internal lock */
	}
	CUPTI(cuptiEnableDomain, 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	return arg;
}

/* ---- others ---- */

static void take_none(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = NULL;
	*size = *most = 0;
}

static void lose(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)c, (void)stream, (void)buffer, (void)size, (void)valid;
}

static void stranger(void)
{
	__typeof__(&cuptiActivityRegisterCallbacks) use;
	__typeof__(&cuptiSubscribe) ask;
	CUpti_SubscriberHandle other;
	Dl_info info;
	void *lib;
	int rc;

	/* The libcupti that this program is linked with. */
	lib = dladdr((void *)(uintptr_t)cuptiActivityGetNextRecord, &info) ? dlopen(info.dli_fname, RTLD_NOW) : NULL;
	if (!lib)
		die("no libcupti", 0);
	*(void **)&ask = dlsym(lib, "cuptiSubscribe");
	*(void **)&use = dlsym(lib, "cuptiActivityRegisterCallbacks");
	rc = ask(&other, callback, &o);
	printf("a stranger's cuptiSubscribe answers %d\n", rc);
	if (rc == CUPTI_SUCCESS)
		use(take_none, lose);
}

static CUgraphExec drives;

static void capture(void)
{
	unsigned long long ns = 50000;
	void *args[] = { &ns };
	CUstream stream;
	CUgraph graph;

	CU(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	CU(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(cuLaunchKernel, outside, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
	CU(cuLaunchKernel, outside, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
	CU(cuStreamEndCapture, stream, &graph);
	CU(cuGraphInstantiateWithFlags, &drives, graph, 0);
}

static void drive(void)
{
	CU(cuGraphLaunch, drives, NULL);
	CU(cuCtxSynchronize);
}

static void try_again(const char *who)
{
	CUpti_SubscriberHandle other;

	printf("%s: cuptiSubscribe answers %d\n", who, cuptiSubscribe(&other, callback, NULL));
}

static void fork_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		try_again("child");
		printf("child: cuptiActivityEnable answers %d\n", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child ended with %d\n", status);
}

static void go_on_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		return;
	waitpid(pid, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void at_exit(void)
{
	profile_end = its_clock();
	CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	parse();
	print(0);
}

static void set_up(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	pthread_t switcher;
	CUmodule module;
	CUdevice dev;

	if (!lib)
		die(dlerror(), 0);
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	NEEDS(X)
#undef X
	if (o.early || o.forkearly)
		subscribe();
	if (o.forkearly)
		go_on_in_child();
	if (o.clockfirst)
		CUPTI(cuptiActivityRegisterTimestampCallback, own_clock);
	if (o.switching)
		pthread_create(&switcher, NULL, switch_callbacks, NULL);
	CU(cuInit, 0);
	if (o.atexit)
		atexit(at_exit);        /* runs before the driver's handler, after one registered at the first context */
	CU(cuDeviceGet, &dev, 0);
	CU(cuDevicePrimaryCtxRetain, &ctx, dev);
	CU(cuCtxSetCurrent, ctx);
	CU(cuModuleLoadData, &module, ptx);
	CU(cuModuleGetFunction, &inside, module, "spin_inside");
	CU(cuModuleGetFunction, &outside, module, "spin_outside");
	CU(cuMemAlloc_v2, &memory, 1024);
	if (!subscribed)
		subscribe();
	if (o.switching) {
		enough = true;
		pthread_join(switcher, NULL);
	}
	if (o.driven)
		capture();
	if (o.stranger)
		stranger();
}

static void read_word(const char *word)
{
	static const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "early", &o.early }, { "clock", &o.clock }, { "callbacks", &o.callbacks }, { "inside", &o.inside },
		{ "finalize", &o.finalize }, { "small", &o.small }, { "refuse", &o.refuse }, { "graphs", &o.graphs },
		{ "leave", &o.leave }, { "noflush", &o.noflush }, { "teardown", &o.teardown }, { "second", &o.second },
		{ "fork", &o.fork }, { "forkearly", &o.forkearly }, { "clockfirst", &o.clockfirst },
		{ "otherclock", &o.otherclock }, { "stranger", &o.stranger }, { "driven", &o.driven },
		{ "switching", &o.switching }, { "atexit", &o.atexit },
		{ "single", &o.single }, { "named", &o.named },
	};

	if (sscanf(word, "cycles=%d", &o.cycles) == 1 || sscanf(word, "kernels=%d", &o.kernels) == 1 ||
	    sscanf(word, "threads=%d", &o.threads) == 1 || sscanf(word, "toggle=%d", &o.toggle) == 1 ||
	    sscanf(word, "each=%d", &o.each) == 1)
		return;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (strcmp(word, flags[i].name) == 0) {
			*flags[i].flag = true;
			return;
		}
	fprintf(stderr, "kineto_client: no such word: %s\n", word);
	exit(2);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		read_word(argv[i]);
	if (o.threads > 64 || o.toggle > 64)
		die("threads", o.threads);
	set_up();
	if (o.callbacks) {
		only_callbacks();
		return 0;
	}
	if (o.toggle) {
		toggle_all();
		return 0;
	}
	if (o.second)
		try_again("again");
	run(outside, 4);
	if (o.fork)
		fork_child();
	for (int cycle = 0; cycle < o.cycles; cycle++) {
		profile(cycle);
		run(outside, 5);
		if (o.driven)
			drive();
	}
	printf("contexts told: %llu, words lost: %llu\n", (ull)told_contexts, (ull)word_lost);
	if (subscribed)
		CUPTI(cuptiUnsubscribe, subscriber);
	return 0;
}
