/* Runtime API: functions that nvcc's generated code calls, launches, loading the driver. */
#include "test/sim/runtime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct fatbin {
	const void *wrapper;
	struct module *module;          /* NULL until first used: constructors register before the driver is loaded */
};

struct kernel {
	const void *host;
	const char *name;
	struct fatbin *from;
	struct function *fn;
	struct kernel *next;
};

struct configuration {
	dim3 grid, block;
	size_t shared;
	void *stream;
};

struct runtime rt;
static struct kernel *kernels[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct configuration pushed[16];
static __thread int n_pushed;
static __thread cudaError_t last_error;

/* ---- the driver ---- */

static cudaError_t load(void)
{
	const struct sim_driver *(*get)(void);
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (!lib)
		return cudaErrorInsufficientDriver;
	*(void **)&get = dlsym(lib, "sim_driver");
	if (!get || get()->abi != SIM_ABI)
		return cudaErrorInsufficientDriver;
#define X(fn) *(void **)&rt.fn = dlsym(lib, #fn);
	RUNTIME_NEEDS(X)
#undef X
	__atomic_store_n(&rt.drv, get(), __ATOMIC_RELEASE);
	return cudaSuccess;
}

cudaError_t runtime_ready(void)
{
	static _Atomic int result = -1;
	static pthread_mutex_t once = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	if (result < 0) {
		pthread_mutex_lock(&once);
		if (result < 0) {
			cudaError_t rc = rt.drv ? cudaSuccess : load();

			result = (int)(rc ? rc : (cudaError_t)rt.cuInit(0));
		}
		pthread_mutex_unlock(&once);
	}
	return result ? (cudaError_t)(int)result : (cudaError_t)rt.drv->usable();
}

cudaError_t runtime_result(cudaError_t rc)
{
	if (rc && rc != cudaErrorNotReady)
		last_error = rc;
	return rc;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t was = last_error;

	last_error = cudaSuccess;
	if (runtime_ready())
		return was;
	ENTER0(cudaGetLastError, 3020);
	LEAVE(cudaSuccess);
	return was;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

/* ---- registration, in constructors, before the driver is loaded ---- */

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
		       int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
			      int constant, int global);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
			    uint3 *bid, dim3 *block, dim3 *grid, int *wsize);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *func);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
			       cudaStream_t stream);

void **__cudaRegisterFatBinary(void *wrapper)
{
	struct fatbin *f = calloc(1, sizeof(*f));

	f->wrapper = wrapper;
	return (void **)f;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
		       int global)
{
	(void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
			      int constant, int global)
{
	(void)handle, (void)device, (void)name, (void)ext, (void)constant, (void)global;
	*host = calloc(1, size);
}

static struct kernel **bucket(const void *host)
{
	return &kernels[((uintptr_t)host >> 4) % BUCKETS];
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
			    uint3 *bid, dim3 *block, dim3 *grid, int *wsize)
{
	struct kernel *k = calloc(1, sizeof(*k));

	(void)name, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)wsize;
	k->host = host;
	k->name = device;               /* mangled name, the same text as `name` */
	k->from = (struct fatbin *)handle;
	pthread_mutex_lock(&lock);
	k->next = *bucket(host);
	*bucket(host) = k;
	pthread_mutex_unlock(&lock);
}

/* f->wrapper is { magic, version, data, file name }.  data begins with u32 magic, u16 version, u16 header size, u64 size. */
static struct module *fatbin_module(struct fatbin *f)
{
	const struct { int magic, version; const uint8_t *data; void *file; } *w = f->wrapper;
	uint16_t header;
	uint64_t size;

	if (!f->module) {
		memcpy(&header, w->data + 6, sizeof(header));
		memcpy(&size, w->data + 8, sizeof(size));
		f->module = rt.drv->module(w->data, header + size);
	}
	return f->module;
}

struct function *runtime_kernel(const void *func)
{
	struct kernel *k;

	pthread_mutex_lock(&lock);
	for (k = *bucket(func); k && k->host != func; k = k->next)
		;
	if (k && !k->fn && rt.drv)
		k->fn = rt.drv->function(fatbin_module(k->from), k->name);
	pthread_mutex_unlock(&lock);
	return k ? k->fn : NULL;
}

/* ---- launches ---- */

/* Parameter structs of calls that nvcc generates.  NVIDIA's headers have the callback ids of these calls, but not the structs. */
struct push_params { dim3 grid, block; size_t shared; void *stream; };
struct pop_params { dim3 *grid, *block; size_t *shared; void *stream; };
struct get_kernel_params { cudaKernel_t *out; const void *func; };
struct launch_params { cudaKernel_t kernel; dim3 grid, block; void **args; size_t shared; cudaStream_t stream; };

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
	struct push_params p = { grid, block, shared, stream };

	ENTER_(__cudaPushCallConfiguration, 13000, &p, NULL);
	if (n_pushed < 16)
		pushed[n_pushed++] = (struct configuration){ grid, block, shared, stream };
	return (unsigned int)LEAVE(cudaSuccess);
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	struct pop_params p = { grid, block, shared, stream };
	struct configuration *c;

	ENTER_(__cudaPopCallConfiguration, 13000, &p, NULL);
	if (n_pushed) {
		c = &pushed[--n_pushed];
		*grid = c->grid;
		*block = c->block;
		*shared = c->shared;
		*(void **)stream = c->stream;
		return LEAVE(cudaSuccess);
	}
	return LEAVE(cudaErrorMissingConfiguration);
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *func)
{
	struct get_kernel_params p = { out, func };

	ENTER_(__cudaGetKernel, 13000, &p, NULL);
	*out = (cudaKernel_t)runtime_kernel(func);
	return LEAVE(*out ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

static cudaError_t launch(const void *fn, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	if (!fn)
		return cudaErrorInvalidDeviceFunction;
	rt.drv->primary_current();
	return (cudaError_t)rt.cuLaunchKernel((CUfunction)fn, grid.x, grid.y, grid.z, block.x, block.y, block.z,
					      (unsigned int)shared, (CUstream)stream, args, NULL);
}

static const char *kernel_name(const void *fn)
{
	return fn ? ((const struct function *)fn)->name : NULL;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
			       cudaStream_t stream)
{
	struct launch_params p = { kernel, grid, block, args, shared, stream };

	ENTER_(__cudaLaunchKernel, 13000, &p, kernel_name(kernel));
	return LEAVE(launch(kernel, grid, block, args, shared, stream));
}

/* func: a host function, or a cudaKernel_t, which CUDA 12.1 and later accept. */
static struct function *kernel_of(const void *func)
{
	return runtime_ready() ? NULL : runtime_kernel(func);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	struct function *f = kernel_of(func);
	cudaLaunchKernel_v7000_params p = { func, grid, block, args, shared, stream };

	ENTER_(cudaLaunchKernel, 7000, &p, kernel_name(f));
	return LEAVE(launch(f, grid, block, args, shared, stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
					cudaStream_t stream)
{
	struct function *f = kernel_of(func);
	cudaLaunchCooperativeKernel_v9000_params p = { func, grid, block, args, shared, stream };

	ENTER_(cudaLaunchCooperativeKernel, 9000, &p, kernel_name(f));
	rt.drv->primary_current();
	return LEAVE(f ? (cudaError_t)rt.cuLaunchCooperativeKernel((CUfunction)f, grid.x, grid.y, grid.z, block.x,
								   block.y, block.z, (unsigned int)shared,
								   (CUstream)stream, args) :
		     cudaErrorInvalidDeviceFunction);
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *c, struct function *f, void **args)
{
	CUlaunchConfig config = { .gridDimX = c->gridDim.x, .gridDimY = c->gridDim.y, .gridDimZ = c->gridDim.z,
				  .blockDimX = c->blockDim.x, .blockDimY = c->blockDim.y, .blockDimZ = c->blockDim.z,
				  .sharedMemBytes = (unsigned int)c->dynamicSmemBytes, .hStream = (CUstream)c->stream,
				  .attrs = (CUlaunchAttribute *)c->attrs /* same layout */, .numAttrs = c->numAttrs };

	if (!f)
		return cudaErrorInvalidDeviceFunction;
	rt.drv->primary_current();
	return (cudaError_t)rt.cuLaunchKernelEx(&config, (CUfunction)f, args, NULL);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
	struct function *f = kernel_of(func);
	cudaLaunchKernelExC_v11060_params p = { config, func, args };

	ENTER_(cudaLaunchKernelExC, 11060, &p, kernel_name(f));
	return LEAVE(launch_ex(config, f, args));
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
	struct function *f = kernel_of(func);

	ENTER(cudaFuncGetAttributes, 3020, attr, func);
	memset(attr, 0, sizeof(*attr));
	attr->maxThreadsPerBlock = 1024;
	attr->numRegs = f ? (int)f->registers : 0;
	attr->ptxVersion = attr->binaryVersion = 86;
	return LEAVE(f ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute what, int value)
{
	ENTER(cudaFuncSetAttribute, 9000, func, what, value);
	return LEAVE(kernel_of(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
	ENTER(cudaLaunchHostFunc, 10000, stream, fn, data);
	return LEAVE(rt.cuLaunchHostFunc((CUstream)stream, fn, data));
}
