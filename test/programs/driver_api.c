/*
 * driver_api [N]: launches N kernels (8) from PTX with the driver API; libcuda.so.1 is loaded at run time, the CUDA runtime is not used.
 * Prints the rows expected in its trace.
 */
#include <unistd.h>

#define PROGRAM "driver_api"
#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData)                   \
	X(cuModuleGetFunction) X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2)                 \
	X(cuMemsetD32_v2) X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuLaunchKernel) X(cuStreamSynchronize)           \
	X(cuCtxSynchronize)

#include "test/programs/driver.h"

/* Prints that it waits for a file, and waits for it. */
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
