/*
 * contexts: a device with its primary and two other contexts, and a context of the next device if there is one; streams and kernels in
 * each.  One context is destroyed with work in flight; the primary context is reset and used again.  Uses only the driver API.  Prints the
 * number of kernels and of contexts.
 */
#define PROGRAM "contexts"
#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxReset_v2)        \
	X(cuCtxSetCurrent) X(cuCtxDestroy_v2) X(cuModuleLoadData) X(cuModuleGetFunction) X(cuStreamCreate)            \
	X(cuLaunchKernel) X(cuCtxSynchronize)

#include "test/programs/driver.h"

static CUresult (*create)(CUcontext *ctx, unsigned int flags, CUdevice dev);     /* cuCtxCreate_v2, which every driver has */

/* Launches n kernels in the current context, half of them in its default stream, half in a new stream. */
static void work(int n, unsigned long long ns)
{
	void *args[] = { &ns };
	CUmodule module;
	CUfunction fn;
	CUstream stream;

	DO(cuModuleLoadData, &module, ptx);
	DO(cuModuleGetFunction, &fn, module, "spin_ptx");
	DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	for (int i = 0; i < n; i++)
		DO(cuLaunchKernel, fn, 1, 1, 1, 32, 1, 1, 0, i % 2 ? stream : NULL, args, NULL);
}

int main(void)
{
	CUcontext primary, first, second, other;
	CUdevice dev, next;
	int devices, kernels = 0, contexts = 4;

	*(void **)&create = dlsym(bind(), "cuCtxCreate_v2");
	DO(cuInit, 0);
	DO(cuDeviceGetCount, &devices);
	DO(cuDeviceGet, &dev, 0);

	DO(cuDevicePrimaryCtxRetain, &primary, dev);
	DO(cuCtxSetCurrent, primary);
	work(4, 20000);
	DO(cuCtxSynchronize);
	must(create(&first, 0, dev), "cuCtxCreate");
	DO(cuCtxSetCurrent, first);
	work(6, 20000);
	must(create(&second, 0, dev), "cuCtxCreate");
	DO(cuCtxSetCurrent, second);
	work(8, 300000);
	DO(cuCtxDestroy_v2, second);            /* with its work in flight */
	kernels = 4 + 6 + 8;
	if (devices > 1) {
		DO(cuDeviceGet, &next, 1);
		must(create(&other, 0, next), "cuCtxCreate");
		DO(cuCtxSetCurrent, other);
		work(10, 20000);
		DO(cuCtxSynchronize);
		kernels += 10;
		contexts++;
	}
	DO(cuCtxSetCurrent, first);
	DO(cuCtxSynchronize);
	DO(cuCtxDestroy_v2, first);
	DO(cuCtxSetCurrent, primary);
	work(2, 300000);
	DO(cuDevicePrimaryCtxReset_v2, dev);    /* with work in flight */
	DO(cuDevicePrimaryCtxRetain, &primary, dev);
	DO(cuCtxSetCurrent, primary);
	work(4, 20000);
	DO(cuCtxSynchronize);
	printf("kernels,%d\ncontexts,%d\n", kernels + 2 + 4, contexts);
	return 0;
}
