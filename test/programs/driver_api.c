/*
 * driver_api [N]: N kernels (8) from PTX text through the driver API alone, libcuda.so.1 opened at run time, no CUDA
 * runtime.  Prints what it expects to find in its own trace.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>

#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData)                   \
	X(cuModuleGetFunction) X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2)                 \
	X(cuMemsetD32_v2) X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuLaunchKernel) X(cuStreamSynchronize)           \
	X(cuCtxSynchronize)

#define X(fn) static __typeof__(fn) *p_##fn;
NEEDS(X)
#undef X

/* Spins for its first argument in nanoseconds, at most 2^24 looks at the clock. */
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
		fprintf(stderr, "driver_api: %s: CUDA error %d\n", what, rc);
		exit(1);
	}
}

#define DO(fn, ...) must(p_##fn(__VA_ARGS__), #fn)

static void bind(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "driver_api: %s\n", dlerror());
		exit(1);
	}
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	NEEDS(X)
#undef X
}

/* Says that it waits for a file, and waits. */
static void wait_for(const char *path)
{
	puts("waiting");
	fflush(stdout);
	while (access(path, F_OK) != 0)
		usleep(1000);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;
	unsigned long long ns = 50000;
	void *args[] = { &ns };
	static unsigned int host[1024];
	CUdevice dev;
	CUcontext ctx;
	CUmodule module;
	CUfunction fn;
	CUstream stream;
	CUdeviceptr p;

	bind();
	DO(cuInit, 0);
	DO(cuDeviceGet, &dev, 0);
	DO(cuDevicePrimaryCtxRetain, &ctx, dev);
	DO(cuCtxSetCurrent, ctx);
	DO(cuModuleLoadData, &module, ptx);
	DO(cuModuleGetFunction, &fn, module, "spin_ptx");
	DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	DO(cuMemAlloc_v2, &p, sizeof(host));
	DO(cuMemcpyHtoD_v2, p, host, sizeof(host));
	DO(cuMemsetD32_v2, p, 7, 1024);
	if (argc > 2)
		wait_for(argv[2]);
	for (int i = 0; i < n; i++)
		DO(cuLaunchKernel, fn, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
	DO(cuStreamSynchronize, stream);
	DO(cuCtxSynchronize);
	DO(cuMemcpyDtoH_v2, host, p, sizeof(host));
	if (host[1023] != 7) {
		fprintf(stderr, "driver_api: wrong data came back\n");
		return 1;
	}
	DO(cuMemFree_v2, p);
	DO(cuStreamDestroy_v2, stream);
	printf("Name,Instances\nspin_ptx,%d\nmemcpy HtoD,1\nmemcpy DtoH,1\nmemset,1\n", n);
	return 0;
}
