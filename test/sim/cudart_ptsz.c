/* Runtime API for programs built with --default-stream per-thread: stream 0 is the calling thread's default stream. */
#include "test/sim/runtime.h"

#define OWN(stream) ((stream) ? (CUstream)(stream) : CU_STREAM_PER_THREAD)
#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
				    cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
				  cudaStream_t stream);
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset_ptds(void *p, int value, size_t n);
cudaError_t cudaMemsetAsync_ptsz(void *p, int value, size_t n, cudaStream_t stream);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);

struct launch_params { cudaKernel_t kernel; dim3 grid, block; void **args; size_t shared; cudaStream_t stream; };

static cudaError_t launch(struct function *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	if (!f)
		return cudaErrorInvalidDeviceFunction;
	rt.drv->primary_current();
	return (cudaError_t)rt.cuLaunchKernel((CUfunction)f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
					      (unsigned int)shared, OWN(stream), args, NULL);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
				    cudaStream_t stream)
{
	struct launch_params p = { kernel, grid, block, args, shared, stream };
	struct function *f = (struct function *)kernel;

	ENTER_(__cudaLaunchKernel_ptsz, 13000, &p, f ? f->name : NULL);
	return LEAVE(launch(f, grid, block, args, shared, stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
				  cudaStream_t stream)
{
	struct function *f = runtime_ready() ? NULL : runtime_kernel(func);
	cudaLaunchKernel_ptsz_v7000_params p = { func, grid, block, args, shared, stream };

	ENTER_(cudaLaunchKernel_ptsz, 7000, &p, f ? f->name : NULL);
	return LEAVE(launch(f, grid, block, args, shared, stream));
}

static CUresult copy_and_wait(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
	CUresult rc = runtime_copy_async(dst, src, n, kind, CU_STREAM_PER_THREAD);

	return rc ? rc : rt.cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
	ENTER(cudaMemcpy_ptds, 7000, dst, src, n, kind);
	return LEAVE(copy_and_wait(dst, src, n, kind));
}

cudaError_t cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	ENTER(cudaMemcpyAsync_ptsz, 7000, dst, src, n, kind, stream);
	return LEAVE(runtime_copy_async(dst, src, n, kind, OWN(stream)));
}

cudaError_t cudaMemset_ptds(void *p, int value, size_t n)
{
	ENTER(cudaMemset_ptds, 7000, p, value, n);
	return LEAVE(rt.cuMemsetD8Async(PTR(p), (unsigned char)value, n, CU_STREAM_PER_THREAD));
}

cudaError_t cudaMemsetAsync_ptsz(void *p, int value, size_t n, cudaStream_t stream)
{
	ENTER(cudaMemsetAsync_ptsz, 7000, p, value, n, stream);
	return LEAVE(rt.cuMemsetD8Async(PTR(p), (unsigned char)value, n, OWN(stream)));
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
	ENTER(cudaStreamSynchronize_ptsz, 7000, stream);
	return LEAVE(rt.cuStreamSynchronize(OWN(stream)));
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream)
{
	ENTER(cudaStreamQuery_ptsz, 7000, stream);
	return LEAVE(rt.cuStreamQuery(OWN(stream)));
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	ENTER(cudaStreamWaitEvent_ptsz, 7000, stream, event, flags);
	return LEAVE(rt.cuStreamWaitEvent(OWN(stream), (CUevent)event, flags));
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
	ENTER(cudaEventRecord_ptsz, 7000, event, stream);
	return LEAVE(rt.cuEventRecord((CUevent)event, OWN(stream)));
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
	ENTER(cudaGraphLaunch_ptsz, 10000, exec, stream);
	return LEAVE(rt.cuGraphLaunch((CUgraphExec)exec, OWN(stream)));
}
