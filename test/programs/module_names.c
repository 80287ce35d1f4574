/*
 * module_names [N]: loads and unloads N modules (3), one after the other; the kernel of the nth is launched n times.  The names of the
 * kernels have the same length, so that their memory may be reused.  Then a kernel whose name has 5000 letters.  Uses only the driver API.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData)                   \
	X(cuModuleGetFunction) X(cuModuleUnload) X(cuLaunchKernel) X(cuCtxSynchronize)

#define X(fn) static __typeof__(fn) *p_##fn;
NEEDS(X)
#undef X

static void must(CUresult rc, const char *what)
{
	if (rc) {
		fprintf(stderr, "module_names: %s: CUDA error %d\n", what, rc);
		exit(1);
	}
}

#define DO(fn, ...) must(p_##fn(__VA_ARGS__), #fn)

/* Loads a module with one empty kernel of this name, launches it n times, unloads the module. */
static void use(const char *name, int n)
{
	static char ptx[16384];
	CUmodule module;
	CUfunction fn;

	snprintf(ptx, sizeof(ptx), ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n", name);
	DO(cuModuleLoadData, &module, ptx);
	DO(cuModuleGetFunction, &fn, module, name);
	for (int i = 0; i < n; i++)
		DO(cuLaunchKernel, fn, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	DO(cuCtxSynchronize);
	DO(cuModuleUnload, module);
	printf("%s,%d\n", name, n);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	static char name[5001];
	CUcontext ctx;
	CUdevice dev;

	if (!lib) {
		fprintf(stderr, "module_names: %s\n", dlerror());
		return 1;
	}
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	NEEDS(X)
#undef X
	DO(cuInit, 0);
	DO(cuDeviceGet, &dev, 0);
	DO(cuDevicePrimaryCtxRetain, &ctx, dev);
	DO(cuCtxSetCurrent, ctx);
	puts("Name,Instances");
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "kernel_of_module_%06d", i);
		use(name, i + 1);
	}
	memset(name, 'n', sizeof(name) - 1);
	use(name, 2);
	return 0;
}
