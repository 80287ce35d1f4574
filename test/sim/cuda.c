/* Driver API: start, devices, contexts, errors. */
#include "test/sim/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_activity.h>

#define STACK_DEPTH 64

static __thread struct context *pushed[STACK_DEPTH];
static __thread int n_pushed;

CUresult cuInit(unsigned int flags)
{
	int error = driver_init();

	if (error)
		return (CUresult)error;
	ENTER(cuInit, flags);
	return LEAVE(flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version)
{
	*version = (int)sim_env("SIM_DRIVER_VERSION", SIM_DRIVER_VERSION);
	return CUDA_SUCCESS;
}

static CUresult device_find(CUdevice *out, int ordinal)
{
	NEED(out, CUDA_ERROR_INVALID_VALUE);
	NEED(device_get(ordinal), CUDA_ERROR_INVALID_DEVICE);
	*out = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER(cuDeviceGet, device, ordinal);
	return LEAVE(device_find(device, ordinal));
}

CUresult cuDeviceGetCount(int *count)
{
	ENTER(cuDeviceGetCount, count);
	*count = device_count();
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	ENTER(cuDeviceGetName, name, len, dev);
	snprintf(name, (size_t)len, "%s", SIM_DEVICE_NAME);
	return LEAVE(CUDA_SUCCESS);
}

static CUresult device_uuid(CUuuid *uuid, CUdevice dev)
{
	NEED(device_get(dev), CUDA_ERROR_INVALID_DEVICE);
	memcpy(uuid, device_get(dev)->uuid, sizeof(*uuid));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	ENTER(cuDeviceGetUuid_v2, uuid, dev);
	return LEAVE(device_uuid(uuid, dev));
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	ENTER(cuDeviceTotalMem_v2, bytes, dev);
	*bytes = memory_total();
	return LEAVE(CUDA_SUCCESS);
}

/* Values resemble an RTX card of compute capability 8.6. */
static const int attributes[] = {
	[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = 1024,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = 1024,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64,
	[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = 2147483647,
	[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535,
	[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = 65535,
	[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 49152,
	[CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = 65536,
	[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32,
	[CU_DEVICE_ATTRIBUTE_MAX_PITCH] = 2147483647,
	[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = 65536,
	[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1695000,
	[CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 512,
	[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 84,
	[CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY] = 1,
	[CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS] = 1,
	[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = 1,
	[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 9751000,
	[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 384,
	[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 6291456,
	[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = 1536,
	[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = 2,
	[CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING] = 1,
	[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 8,
	[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = 6,
	[CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED] = 1,
	[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = 102400,
	[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = 65536,
	[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 1,
	[CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] = 1,
	[CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 1,
	[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 101376,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR] = 16,
	[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 1,
};

int device_attribute(int what)
{
	return (size_t)what < sizeof(attributes) / sizeof(*attributes) ? attributes[what] : 0;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute what, CUdevice dev)
{
	ENTER(cuDeviceGetAttribute, value, what, dev);
	*value = device_attribute((int)what);
	return LEAVE(device_get(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

static CUresult primary_retain(CUcontext *ctx, CUdevice dev)
{
	NEED(device_get(dev), CUDA_ERROR_INVALID_DEVICE);
	*ctx = (CUcontext)context_primary(device_get(dev));
	device_get(dev)->primary_refs++;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxRetain, pctx, dev);
	return LEAVE(primary_retain(pctx, dev));
}

static CUresult primary_release(CUdevice dev, bool reset)
{
	struct device *d = device_get(dev);

	NEED(d, CUDA_ERROR_INVALID_DEVICE);
	if (d->primary && (reset || --d->primary_refs <= 0))
		context_destroy(d->primary);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxRelease_v2, dev);
	return LEAVE(primary_release(dev, false));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxReset_v2, dev);
	return LEAVE(primary_release(dev, true));
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	ENTER(cuDevicePrimaryCtxGetState, dev, flags, active);
	*flags = 0;
	*active = device_get(dev) && device_get(dev)->primary;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	ENTER(cuDevicePrimaryCtxSetFlags_v2, dev, flags);
	return LEAVE(CUDA_SUCCESS);
}

static CUresult context_create(CUcontext *ctx, CUdevice dev)
{
	NEED(device_get(dev), CUDA_ERROR_INVALID_DEVICE);
	if (n_pushed < STACK_DEPTH)
		pushed[n_pushed++] = context_current();
	*context_slot() = context_new(device_get(dev), false, NULL);
	*ctx = (CUcontext)context_current();
	return CUDA_SUCCESS;
}

#undef cuCtxCreate
CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	ENTER(cuCtxCreate_v2, pctx, flags, dev);
	return LEAVE(context_create(pctx, dev));
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *p, unsigned int flags, CUdevice dev)
{
	ENTER(cuCtxCreate_v4, pctx, p, flags, dev);
	return LEAVE(context_create(pctx, dev));
}

static CUresult context_pop(CUcontext *ctx)
{
	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	if (ctx)
		*ctx = (CUcontext)context_current();
	*context_slot() = n_pushed ? pushed[--n_pushed] : NULL;
	return CUDA_SUCCESS;
}

static CUresult context_end(CUcontext handle)
{
	struct context *ctx = (struct context *)handle;

	NEED(ctx && !ctx->dead, CUDA_ERROR_INVALID_CONTEXT);
	context_destroy(ctx);
	if (!*context_slot() && n_pushed)
		context_pop(NULL);
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	ENTER(cuCtxDestroy_v2, ctx);
	return LEAVE(context_end(ctx));
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	ENTER(cuCtxPushCurrent_v2, ctx);
	if (n_pushed < STACK_DEPTH)
		pushed[n_pushed++] = context_current();
	*context_slot() = (struct context *)ctx;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
	ENTER(cuCtxPopCurrent_v2, pctx);
	return LEAVE(context_pop(pctx));
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	ENTER(cuCtxSetCurrent, ctx);
	*context_slot() = (struct context *)ctx;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	ENTER(cuCtxGetCurrent, pctx);
	*pctx = (CUcontext)context_current();
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	ENTER(cuCtxGetDevice, device);
	if (context_current())
		*device = context_current()->dev->ordinal;
	return LEAVE(context_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	ENTER(cuCtxGetApiVersion, ctx, version);
	*version = (int)sim_env("SIM_DRIVER_VERSION", SIM_DRIVER_VERSION);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	ENTER(cuCtxGetStreamPriorityRange, least, greatest);
	*least = 0;
	*greatest = -5;
	return LEAVE(CUDA_SUCCESS);
}

/* A green context is a separate context here; its resource descriptor is ignored. */
CUresult cuGreenCtxCreate(CUgreenCtx *ctx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)
{
	ENTER(cuGreenCtxCreate, ctx, desc, dev, flags);
	if (device_get(dev))
		*ctx = (CUgreenCtx)context_new(device_get(dev), false, context_primary(device_get(dev)));
	return LEAVE(device_get(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

CUresult cuCtxFromGreenCtx(CUcontext *ctx, CUgreenCtx green)
{
	ENTER(cuCtxFromGreenCtx, ctx, green);
	*ctx = (CUcontext)green;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned int flags, int priority)
{
	ENTER(cuGreenCtxStreamCreate, stream, green, flags, priority);
	*stream = (CUstream)stream_new((struct context *)green, flags, priority);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
	ENTER(cuGreenCtxDestroy, green);
	return LEAVE(context_end((CUcontext)green));
}

static CUresult context_sync(void)
{
	struct context *ctx = context_current();

	NEED(ctx, CUDA_ERROR_INVALID_CONTEXT);
	sync_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, ctx, NULL, NULL, context_tail(ctx));
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	ENTER0(cuCtxSynchronize);
	return LEAVE(context_sync());
}

CUresult cuProfilerStart(void)
{
	ENTER0(cuProfilerStart);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuProfilerStop(void)
{
	ENTER0(cuProfilerStop);
	return LEAVE(CUDA_SUCCESS);
}

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
	{ CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down" },
	{ CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
	{ CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
	{ CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{ CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed" },
	{ CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
	{ CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
	{ CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
};

static CUresult error_text(CUresult error, const char **out, bool name)
{
	*out = NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == error)
			*out = name ? errors[i].name : errors[i].text;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	return error_text(error, text, false);
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
	return error_text(error, text, true);
}

/* Returns the newest version of the function that this library exports; ignores `version`. */
CUresult cuGetProcAddress_v2(const char *symbol, void **fn, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	static const char *const suffix[] = { "_v4", "_v3", "_v2", "" };
	char name[256];

	(void)version;
	(void)flags;
	*fn = NULL;
	for (size_t i = 0; i < sizeof(suffix) / sizeof(*suffix) && !*fn; i++) {
		snprintf(name, sizeof(name), "%s%s", symbol, suffix[i]);
		*fn = dlsym(RTLD_DEFAULT, name);
	}
	if (status)
		*status = *fn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *fn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
