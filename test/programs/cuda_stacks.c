/*
 * CUDA calls on small stacks; uses only the driver API.
 *	cuda_stacks use			prints the bytes of stack that each call takes
 *	cuda_stacks thread N		20 threads with N bytes of stack
 *	cuda_stacks coroutine N		a coroutine with N bytes
 * The context is created on the main thread first.
 */
#define PROGRAM "cuda_stacks"
#define NEEDS(X)                                                                                                \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData) X(cuModuleGetFunction)   \
	X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemcpyHtoD_v2) X(cuLaunchKernel) X(cuCtxSynchronize)

#include "test/programs/driver.h"
#include "test/programs/measure_stack.h"

static CUcontext ctx;
static CUfunction kernel;
static CUdeviceptr memory;
static char host[64];

static void enter(void) { DO(cuCtxSetCurrent, ctx); }
static void get(void) { DO(cuMemAlloc_v2, &memory, 64); }
static void copy(void) { DO(cuMemcpyHtoD_v2, memory, host, 64); }
static void wait(void) { DO(cuCtxSynchronize); }
static void give(void) { DO(cuMemFree_v2, memory); }

static void launch(void)
{
	unsigned long long ns = 1000;
	void *args[] = { &ns };

	DO(cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
}

static const struct stack_call calls[] = {
	{ "enter", enter }, { "get", get }, { "copy", copy }, { "launch", launch }, { "launch_again", launch }, { "wait", wait }, { "give", give }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? (size_t)atoi(argv[2]) : 0;
	CUmodule module;
	CUdevice dev;

	if (argc < 2)
		return 2;
	stack_calls = calls;
	bind();
	DO(cuInit, 0);
	DO(cuDeviceGet, &dev, 0);
	DO(cuDevicePrimaryCtxRetain, &ctx, dev);
	DO(cuCtxSetCurrent, ctx);
	DO(cuModuleLoadData, &module, ptx);
	DO(cuModuleGetFunction, &kernel, module, "spin_ptx");
	if (strcmp(argv[1], "use") == 0)
		measure();
	for (int i = 0; i < 20 && strcmp(argv[1], "thread") == 0; i++)
		on_thread(size, everything);
	if (strcmp(argv[1], "coroutine") == 0)
		on_coroutine(size, everything);
	DO(cuCtxSynchronize);
	return 0;
}
