/* Runtime API: devices, memory, streams, events, graphs.  Each function calls the same driver function as the real runtime. */
#include "test/sim/runtime.h"

#include <stdio.h>
#include <string.h>

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

/* ---- devices ---- */

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = SIM_DRIVER_VERSION;
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = 0;
	return runtime_ready() == cudaErrorInsufficientDriver ? cudaSuccess :
								 (cudaError_t)rt.cuDriverGetVersion(version);
}

cudaError_t cudaGetDeviceCount(int *count)
{
	*count = 0;
	ENTER_BARE(cudaGetDeviceCount, 3020, count);
	return LEAVE(rt.cuDeviceGetCount(count));
}

cudaError_t cudaGetDevice(int *device)
{
	ENTER_BARE(cudaGetDevice, 3020, device);
	*device = rt.drv->runtime_device(-1);
	return LEAVE(cudaSuccess);
}

static cudaError_t device_set(int device)
{
	int n = 0;

	rt.cuDeviceGetCount(&n);
	if (device < 0 || device >= n)
		return cudaErrorInvalidDevice;
	rt.drv->runtime_device(device);
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	ENTER_BARE(cudaSetDevice, 3020, device);
	return LEAVE(device_set(device));
}

static int attribute(CUdevice_attribute what, int device)
{
	int value = 0;

	rt.cuDeviceGetAttribute(&value, what, device);
	return value;
}

static cudaError_t properties(struct cudaDeviceProp *p, int device)
{
#define GET(field, what) p->field = attribute(CU_DEVICE_ATTRIBUTE_##what, device)
	memset(p, 0, sizeof(*p));
	if (rt.cuDeviceGetUuid_v2((CUuuid *)&p->uuid, device))
		return cudaErrorInvalidDevice;
	rt.cuDeviceGetName(p->name, sizeof(p->name), device);
	rt.cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
	p->sharedMemPerBlock = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
	p->totalConstMem = (size_t)attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, device);
	GET(regsPerBlock, MAX_REGISTERS_PER_BLOCK);
	GET(warpSize, WARP_SIZE);
	GET(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
	GET(maxThreadsDim[0], MAX_BLOCK_DIM_X);
	GET(maxThreadsDim[1], MAX_BLOCK_DIM_Y);
	GET(maxThreadsDim[2], MAX_BLOCK_DIM_Z);
	GET(maxGridSize[0], MAX_GRID_DIM_X);
	GET(maxGridSize[1], MAX_GRID_DIM_Y);
	GET(maxGridSize[2], MAX_GRID_DIM_Z);
	GET(major, COMPUTE_CAPABILITY_MAJOR);
	GET(minor, COMPUTE_CAPABILITY_MINOR);
	GET(multiProcessorCount, MULTIPROCESSOR_COUNT);
	GET(concurrentKernels, CONCURRENT_KERNELS);
	GET(asyncEngineCount, ASYNC_ENGINE_COUNT);
	GET(unifiedAddressing, UNIFIED_ADDRESSING);
	GET(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
	GET(l2CacheSize, L2_CACHE_SIZE);
	GET(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR);
	GET(managedMemory, MANAGED_MEMORY);
	GET(cooperativeLaunch, COOPERATIVE_LAUNCH);
	GET(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED);
	GET(pciBusID, PCI_BUS_ID);
#undef GET
	return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	ENTER_BARE(cudaGetDeviceProperties, 12000, prop, device);
	return LEAVE(properties(prop, device));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr what, int device)
{
	ENTER_BARE(cudaDeviceGetAttribute, 5000, value, what, device);
	return LEAVE(rt.cuDeviceGetAttribute(value, (CUdevice_attribute)what, device));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	ENTER(cudaDeviceGetStreamPriorityRange, 5050, least, greatest);
	return LEAVE(rt.cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaDeviceSynchronize(void)
{
	ENTER0(cudaDeviceSynchronize, 3020);
	rt.drv->primary_current();
	return LEAVE(rt.cuCtxSynchronize());
}

cudaError_t cudaDeviceReset(void)
{
	ENTER0(cudaDeviceReset, 3020);
	return LEAVE(rt.cuDevicePrimaryCtxReset_v2(rt.drv->runtime_device(-1)));
}

cudaError_t cudaProfilerStart(void)
{
	ENTER0(cudaProfilerStart, 4000);
	return LEAVE(rt.cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
	ENTER0(cudaProfilerStop, 4000);
	return LEAVE(rt.cuProfilerStop());
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *func, int block, size_t shared,
								   unsigned int flags)
{
	ENTER(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, n, func, block, shared, flags);
	*n = block > 0 ? 1536 / block : 0;
	*n = *n > 16 ? 16 : *n;
	return LEAVE(block > 0 ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *func, int block, size_t shared)
{
	ENTER(cudaOccupancyMaxActiveBlocksPerMultiprocessor, 6050, n, func, block, shared);
	*n = block > 0 ? 1536 / block : 0;
	*n = *n > 16 ? 16 : *n;
	return LEAVE(block > 0 ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **p, size_t size)
{
	ENTER(cudaMalloc, 3020, p, size);
	return LEAVE(rt.cuMemAlloc_v2((CUdeviceptr *)p, size));
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	ENTER(cudaMallocPitch, 3020, p, pitch, width, height);
	return LEAVE(rt.cuMemAllocPitch_v2((CUdeviceptr *)p, pitch, width, height, 4));
}

cudaError_t cudaFree(void *p)
{
	ENTER(cudaFree, 3020, p);
	return LEAVE(p ? rt.cuMemFree_v2(PTR(p)) : CUDA_SUCCESS);
}

cudaError_t cudaMallocHost(void **p, size_t size)
{
	ENTER(cudaMallocHost, 3020, p, size);
	return LEAVE(rt.cuMemAllocHost_v2(p, size));
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned int flags)
{
	ENTER(cudaHostAlloc, 3020, p, size, flags);
	return LEAVE(rt.cuMemHostAlloc(p, size, flags));
}

cudaError_t cudaFreeHost(void *p)
{
	ENTER(cudaFreeHost, 3020, p);
	return LEAVE(rt.cuMemFreeHost(p));
}

cudaError_t cudaMallocManaged(void **p, size_t size, unsigned int flags)
{
	ENTER(cudaMallocManaged, 6000, p, size, flags);
	return LEAVE(rt.cuMemAllocManaged((CUdeviceptr *)p, size, flags));
}

cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, struct cudaMemLocation where, unsigned int flags, cudaStream_t stream)
{
	CUmemLocation location = { .type = where.type == cudaMemLocationTypeDevice ? CU_MEM_LOCATION_TYPE_DEVICE :
										     CU_MEM_LOCATION_TYPE_HOST, .id = where.id };

	ENTER(cudaMemPrefetchAsync, 12020, p, n, where, flags, stream);
	return LEAVE(rt.cuMemPrefetchAsync_v2(PTR(p), n, location, flags, (CUstream)stream));
}

cudaError_t cudaMallocAsync(void **p, size_t size, cudaStream_t stream)
{
	ENTER(cudaMallocAsync, 11020, p, size, stream);
	return LEAVE(rt.cuMemAllocAsync((CUdeviceptr *)p, size, (CUstream)stream));
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
	ENTER(cudaFreeAsync, 11020, p, stream);
	return LEAVE(rt.cuMemFreeAsync(PTR(p), (CUstream)stream));
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	ENTER(cudaMemGetInfo, 3020, available, total);
	return LEAVE(rt.cuMemGetInfo_v2(available, total));
}

cudaError_t cudaHostRegister(void *p, size_t size, unsigned int flags)
{
	ENTER(cudaHostRegister, 4000, p, size, flags);
	return LEAVE(rt.cuMemHostRegister_v2(p, size, flags));
}

cudaError_t cudaHostUnregister(void *p)
{
	ENTER(cudaHostUnregister, 4000, p);
	return LEAVE(rt.cuMemHostUnregister(p));
}

static CUresult copy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return rt.cuMemcpyHtoD_v2(PTR(dst), src, n);
	case cudaMemcpyDeviceToHost:
		return rt.cuMemcpyDtoH_v2(dst, PTR(src), n);
	case cudaMemcpyDeviceToDevice:
		return rt.cuMemcpyDtoD_v2(PTR(dst), PTR(src), n);
	default:
		return rt.cuMemcpy(PTR(dst), PTR(src), n);
	}
}

CUresult runtime_copy_async(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, CUstream s)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return rt.cuMemcpyHtoDAsync_v2(PTR(dst), src, n, s);
	case cudaMemcpyDeviceToHost:
		return rt.cuMemcpyDtoHAsync_v2(dst, PTR(src), n, s);
	case cudaMemcpyDeviceToDevice:
		return rt.cuMemcpyDtoDAsync_v2(PTR(dst), PTR(src), n, s);
	default:
		return rt.cuMemcpyAsync(PTR(dst), PTR(src), n, s);
	}
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
	ENTER(cudaMemcpy, 3020, dst, src, n, kind);
	return LEAVE(copy(dst, src, n, kind));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	ENTER(cudaMemcpyAsync, 3020, dst, src, n, kind, stream);
	return LEAVE(runtime_copy_async(dst, src, n, kind, (CUstream)stream));
}

/* The host shadow of a device variable serves as its device memory. */
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
	ENTER(cudaMemcpyToSymbol, 3020, symbol, src, n, offset, kind);
	return LEAVE(copy((char *)(uintptr_t)symbol + offset, src, n, kind));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
	ENTER(cudaMemcpyFromSymbol, 3020, dst, symbol, n, offset, kind);
	return LEAVE(copy(dst, (const char *)symbol + offset, n, kind));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, cudaStream_t stream)
{
	ENTER(cudaMemcpyPeerAsync, 4000, dst, to, src, from, n, stream);
	return LEAVE(rt.cuMemcpyPeerAsync(PTR(dst), NULL, PTR(src), NULL, n, (CUstream)stream));
}

cudaError_t cudaMemset(void *p, int value, size_t n)
{
	ENTER(cudaMemset, 3020, p, value, n);
	return LEAVE(rt.cuMemsetD8_v2(PTR(p), (unsigned char)value, n));
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream)
{
	ENTER(cudaMemsetAsync, 3020, p, value, n, stream);
	return LEAVE(rt.cuMemsetD8Async(PTR(p), (unsigned char)value, n, (CUstream)stream));
}

/* ---- streams ---- */

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	ENTER(cudaStreamCreate, 3020, stream);
	return LEAVE(rt.cuStreamCreate((CUstream *)stream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	ENTER(cudaStreamCreateWithFlags, 5000, stream, flags);
	return LEAVE(rt.cuStreamCreate((CUstream *)stream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	ENTER(cudaStreamCreateWithPriority, 5050, stream, flags, priority);
	return LEAVE(rt.cuStreamCreateWithPriority((CUstream *)stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	ENTER(cudaStreamDestroy, 5050, stream);
	return LEAVE(rt.cuStreamDestroy_v2((CUstream)stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	ENTER(cudaStreamSynchronize, 3020, stream);
	return LEAVE(rt.cuStreamSynchronize((CUstream)stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	ENTER(cudaStreamQuery, 3020, stream);
	return LEAVE(rt.cuStreamQuery((CUstream)stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	ENTER(cudaStreamWaitEvent, 3020, stream, event, flags);
	return LEAVE(rt.cuStreamWaitEvent((CUstream)stream, (CUevent)event, flags));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	ENTER(cudaStreamIsCapturing, 10000, stream, status);
	return LEAVE(rt.cuStreamIsCapturing((CUstream)stream, (CUstreamCaptureStatus *)status));
}

/* ---- events ---- */

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	ENTER(cudaEventCreate, 3020, event);
	return LEAVE(rt.cuEventCreate((CUevent *)event, 0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	ENTER(cudaEventCreateWithFlags, 3020, event, flags);
	return LEAVE(rt.cuEventCreate((CUevent *)event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	ENTER(cudaEventDestroy, 3020, event);
	return LEAVE(rt.cuEventDestroy_v2((CUevent)event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	ENTER(cudaEventRecord, 3020, event, stream);
	return LEAVE(rt.cuEventRecord((CUevent)event, (CUstream)stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	ENTER(cudaEventRecordWithFlags, 11010, event, stream, flags);
	return LEAVE(rt.cuEventRecordWithFlags((CUevent)event, (CUstream)stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	ENTER(cudaEventQuery, 3020, event);
	return LEAVE(rt.cuEventQuery((CUevent)event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	ENTER(cudaEventSynchronize, 3020, event);
	return LEAVE(rt.cuEventSynchronize((CUevent)event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	ENTER(cudaEventElapsedTime, 12080, ms, start, end);
	return LEAVE(rt.cuEventElapsedTime_v2(ms, (CUevent)start, (CUevent)end));
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	ENTER(cudaStreamBeginCapture, 10000, stream, mode);
	return LEAVE(rt.cuStreamBeginCapture_v2((CUstream)stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	ENTER(cudaStreamEndCapture, 10000, stream, graph);
	return LEAVE(rt.cuStreamEndCapture((CUstream)stream, (CUgraph *)graph));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	ENTER(cudaGraphInstantiate, 12000, exec, graph, flags);
	return LEAVE(rt.cuGraphInstantiateWithFlags((CUgraphExec *)exec, (CUgraph)graph, flags));
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	ENTER(cudaGraphCreate, 10000, graph, flags);
	return LEAVE(rt.cuGraphCreate((CUgraph *)graph, flags));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
	ENTER(cudaGraphExecUpdate, 10020, exec, graph, info);
	return LEAVE(rt.cuGraphExecUpdate_v2((CUgraphExec)exec, (CUgraph)graph, (CUgraphExecUpdateResultInfo *)info));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	ENTER(cudaGraphLaunch, 10000, exec, stream);
	return LEAVE(rt.cuGraphLaunch((CUgraphExec)exec, (CUstream)stream));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
	ENTER(cudaGraphGetNodes, 10000, graph, nodes, n);
	return LEAVE(rt.cuGraphGetNodes((CUgraph)graph, (CUgraphNode *)nodes, n));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	ENTER(cudaGraphDestroy, 10000, graph);
	return LEAVE(rt.cuGraphDestroy((CUgraph)graph));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	ENTER(cudaGraphExecDestroy, 10000, exec);
	return LEAVE(rt.cuGraphExecDestroy((CUgraphExec)exec));
}

/* ---- errors ---- */

static const struct {
	cudaError_t code;
	const char *name, *text;
} errors[] = {
	{ cudaSuccess, "cudaSuccess", "no error" },
	{ cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
	{ cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
	{ cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error" },
	{ cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down" },
	{ cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
	  "CUDA driver version is insufficient for CUDA runtime version" },
	{ cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function" },
	{ cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
	{ cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
	{ cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
	{ cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
};

const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == error)
			return errors[i].text;
	return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == error)
			return errors[i].name;
	return "unrecognized error code";
}
