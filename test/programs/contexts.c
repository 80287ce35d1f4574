/*
 * contexts: two contexts of one device beside its primary one, and one of the next device if there is one; streams and kernels in each;
 * one is destroyed with work in flight, and the primary context is reset and used again.  Driver API alone.  Prints how many kernels
 * there are in all, and how many contexts.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxReset_v2)        \
	X(cuCtxSetCurrent) X(cuCtxDestroy_v2) X(cuModuleLoadData) X(cuModuleGetFunction) X(cuStreamCreate)            \
	X(cuLaunchKernel) X(cuCtxSynchronize)

#define X(fn) static __typeof__(fn) *p_##fn;
NEEDS(X)
#undef X
static CUresult (*create)(CUcontext *ctx, unsigned int flags, CUdevice dev);     /* cuCtxCreate_v2, of every driver */

/* As in driver_api.c. */
static const char ptx[] =
	".version 6.0\n.target sm_60\n.address_size 64\n"
	".visible .entry spin_ptx(.param .u64 spin_ns)\n"
	"{\n"
	"	.reg .u64 %t<5>;\n	.reg .u32 %n;\n	.reg .pred %p<3>;\n"
	"	ld.param.u64 %t0, [spin_ns];\n"
	"	mov.u64 %t1, %globaltimer;\n"
	"	mov.u32 %n, 0;\n"
	"again:\n"
	"	mov.u64 %t2, %globaltimer;\n"
	"	sub.u64 %t3, %t2, %t1;\n"
	"	add.u32 %n, %n, 1;\n"
	"	setp.lt.u64 %p0, %t3, %t0;\n"
	"	setp.lt.u32 %p1, %n, 16777216;\n"
	"	and.pred %p2, %p0, %p1;\n"
	"	@%p2 bra again;\n"
	"	ret;\n"
	"}\n";

static void must(CUresult rc, const char *what)
{
	if (rc) {
		fprintf(stderr, "contexts: %s: CUDA error %d\n", what, rc);
		exit(1);
	}
}

#define DO(fn, ...) must(p_##fn(__VA_ARGS__), #fn)

static void bind(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "contexts: %s\n", dlerror());
		exit(1);
	}
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	NEEDS(X)
#undef X
	*(void **)&create = dlsym(lib, "cuCtxCreate_v2");
}

/* n kernels in the current context, half of them in its default stream, half in one of its own. */
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

	bind();
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
	DO(cuCtxDestroy_v2, second);            /* with all of that under way */
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
	DO(cuDevicePrimaryCtxReset_v2, dev);    /* likewise */
	DO(cuDevicePrimaryCtxRetain, &primary, dev);
	DO(cuCtxSetCurrent, primary);
	work(4, 20000);
	DO(cuCtxSynchronize);
	printf("kernels,%d\ncontexts,%d\n", kernels + 2 + 4, contexts);
	return 0;
}
