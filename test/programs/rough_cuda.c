/*
 * Threads that are interrupted, cancelled or ended inside CUDA calls; driver API and NVTX.  Prints the expected rows; exits with 1 if it
 * hangs.
 *
 *	rough_cuda storm [N]    N launches (2000) in ranges, while the thread gets many signals, whose handler calls NVTX and CUDA
 *	rough_cuda cancel [N]   N threads (20) are cancelled while they wait for a kernel, the main thread continues to launch
 *	rough_cuda leave [N]    N threads (20) leave by pthread_exit() from a function that the driver calls
 */
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData)                   \
	X(cuModuleGetFunction) X(cuStreamCreate) X(cuLaunchKernel) X(cuStreamSynchronize) X(cuCtxSynchronize)         \
	X(cuEventCreate) X(cuEventRecord) X(cuEventElapsedTime_v2) X(cuLaunchHostFunc)

#define X(fn) static __typeof__(fn) *p_##fn;
NEEDS(X)
#undef X

static const char ptx[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
			  ".visible .entry spin_rough(.param .u64 spin_ns)\n{\n\tret;\n}\n";
static CUcontext ctx;
static CUfunction kernel;
static CUevent first, second;
static volatile int stop;
static volatile long in_handler;
static int launches;

static void must(CUresult rc, const char *what)
{
	if (rc) {
		fprintf(stderr, "rough_cuda: %s: CUDA error %d\n", what, rc);
		exit(1);
	}
}

#define DO(fn, ...) must(p_##fn(__VA_ARGS__), #fn)

static void start(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	CUmodule module;
	CUdevice dev;

	if (!lib) {
		fprintf(stderr, "rough_cuda: %s\n", dlerror());
		exit(1);
	}
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	NEEDS(X)
#undef X
	DO(cuInit, 0);
	DO(cuDeviceGet, &dev, 0);
	DO(cuDevicePrimaryCtxRetain, &ctx, dev);
	DO(cuCtxSetCurrent, ctx);
	DO(cuModuleLoadData, &module, ptx);
	DO(cuModuleGetFunction, &kernel, module, "spin_rough");
	DO(cuEventCreate, &first, 0);
	DO(cuEventCreate, &second, 0);
	DO(cuEventRecord, first, NULL);
	DO(cuEventRecord, second, NULL);
	DO(cuCtxSynchronize);
}

static void launch(CUstream stream, unsigned long long ns)
{
	void *args[] = { &ns };

	DO(cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
	__atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
}

static void handler(int signo)
{
	float ms;

	(void)signo;
	nvtxMarkA("in the handler");
	p_cuEventElapsedTime_v2(&ms, first, second);
	in_handler++;
}

static void *rain(void *on)
{
	while (!stop) {
		pthread_kill(*(pthread_t *)on, SIGUSR1);
		usleep(20);
	}
	return NULL;
}

static void storm(int n)
{
	pthread_t self = pthread_self(), thread;

	nvtxMarkA("begin");
	signal(SIGUSR1, handler);
	pthread_create(&thread, NULL, rain, &self);
	for (int i = 0; i < n || in_handler < 200; i++) {
		nvtxRangePushA("launch");
		launch(NULL, 1000);
		nvtxRangePop();
	}
	stop = 1;
	pthread_join(thread, NULL);
	signal(SIGUSR1, SIG_IGN);
}

static volatile int waiting;

static void *waiter(void *unused)
{
	CUstream stream;

	DO(cuCtxSetCurrent, ctx);
	DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	launch(stream, 30000000);
	waiting = 1;
	DO(cuStreamSynchronize, stream);
	return unused;
}

static void CUDA_CB gone(void *unused)
{
	pthread_exit(unused);
}

static void *leaver(void *unused)
{
	CUstream stream;

	DO(cuCtxSetCurrent, ctx);
	DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	launch(stream, 1000);
	DO(cuLaunchHostFunc, stream, gone, NULL);
	return unused;
}

static void lose_threads(int n, void *(*run)(void *), int cancel)
{
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		waiting = 0;
		pthread_create(&thread, NULL, run, NULL);
		while (cancel && !waiting)
			;
		if (cancel)
			pthread_cancel(thread);
		pthread_join(thread, NULL);
		launch(NULL, 1000);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cancel";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	alarm(60);
	start();
	if (strcmp(what, "storm") == 0)
		storm(n ? n : 2000);
	else if (strcmp(what, "leave") == 0)
		lose_threads(n ? n : 20, leaver, 0);
	else
		lose_threads(n ? n : 20, waiter, 1);
	DO(cuCtxSynchronize);
	printf("Name,Instances\nspin_rough,%d\nmarks,%ld\n", launches, in_handler);
	return 0;
}
