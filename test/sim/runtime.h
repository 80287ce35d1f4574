/* Begin and end of the functions of the runtime stand-in, and the driver functions that they call. */
#ifndef TEST_SIM_RUNTIME_H
#define TEST_SIM_RUNTIME_H

#include "test/sim/engine.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

/* Driver functions that the runtime calls; bound by name at the first runtime call, as in the real runtime. */
#define RUNTIME_NEEDS(X)                                                                                         \
	X(cuInit) X(cuDriverGetVersion) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetUuid_v2)                    \
	X(cuDeviceTotalMem_v2) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxReset_v2) X(cuCtxSynchronize)              \
	X(cuCtxGetStreamPriorityRange) X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel)            \
	X(cuLaunchHostFunc) X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuProfilerStart) X(cuProfilerStop)          \
	X(cuMemAlloc_v2) X(cuMemAllocPitch_v2) X(cuMemFree_v2) X(cuMemHostAlloc) X(cuMemAllocHost_v2)                \
	X(cuMemPrefetchAsync_v2) X(cuMemFreeHost) X(cuMemAllocManaged) X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuMemGetInfo_v2)                \
	X(cuMemHostRegister_v2) X(cuMemHostUnregister) X(cuPointerGetAttribute) X(cuMemcpy) X(cuMemcpyAsync)          \
	X(cuMemcpyHtoD_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyDtoHAsync_v2)                        \
	X(cuMemcpyDtoD_v2) X(cuMemcpyDtoDAsync_v2) X(cuMemcpyPeerAsync) X(cuMemsetD8_v2) X(cuMemsetD8Async)          \
	X(cuStreamCreate) X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2) X(cuStreamSynchronize)                \
	X(cuStreamQuery) X(cuStreamWaitEvent) X(cuStreamIsCapturing) X(cuStreamBeginCapture_v2)                      \
	X(cuStreamEndCapture) X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventRecord) X(cuEventRecordWithFlags)        \
	X(cuEventQuery) X(cuEventSynchronize) X(cuEventElapsedTime_v2) X(cuGraphInstantiateWithFlags)                \
	X(cuGraphLaunch) X(cuGraphDestroy) X(cuGraphExecDestroy) X(cuGraphGetNodes)                        \
	X(cuGraphCreate) X(cuGraphExecUpdate_v2)

struct runtime {
	const struct sim_driver *drv;
#define X(fn) __typeof__(fn) *fn;
	RUNTIME_NEEDS(X)
#undef X
};

/* The driver's functions; rt.drv is NULL until it is loaded. */
extern struct runtime rt;

/* Loads and initializes the driver once.  Returns 0, or the error that every runtime call returns. */
cudaError_t runtime_ready(void);

/* Stores an error for cudaGetLastError(); returns rc. */
cudaError_t runtime_result(cudaError_t rc);

/* Returns the kernel registered for a host function, or NULL. */
struct function *runtime_kernel(const void *func);

/* Calls the driver function for this kind of asynchronous copy. */
CUresult runtime_copy_async(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, CUstream s);

#define ENTER_(fn, version, param_ptr, kernel)                                                                   \
	cudaError_t rc = runtime_ready();                                                                        \
	struct sim_call call = { .domain = SIM_RUNTIME_API, .cbid = CUPTI_RUNTIME_TRACE_CBID_##fn##_v##version,    \
				 .name = #fn, .params = (param_ptr), .symbol = (kernel), .ret = &rc };           \
	if (rc)                                                                                                  \
		return runtime_result(rc);                                                                       \
	rt.drv->enter(&call)

/* For calls that need no context: queries, choice of a device. */
#define ENTER_BARE(fn, version, ...)                                                                             \
	fn##_v##version##_params params_ = { __VA_ARGS__ };                                                      \
	ENTER_(fn, version, &params_, NULL)

#define ENTER(fn, version, ...)                                                                                  \
	ENTER_BARE(fn, version, __VA_ARGS__);                                                                    \
	rt.drv->primary_current()

#define ENTER0(fn, version) ENTER_(fn, version, NULL, NULL)

#define LEAVE(result) (rc = (cudaError_t)(result), rt.drv->leave(&call), runtime_result(rc))

#endif
