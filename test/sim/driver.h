/* Begin and end of every driver API function of the stand-in. */
#ifndef TEST_SIM_DRIVER_H
#define TEST_SIM_DRIVER_H

#include "test/sim/engine.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti_driver_cbid.h>

/* Types of the first CUDA versions, which the parameter structs below still name. */
typedef unsigned int CUdeviceptr_v1;
typedef struct CUDA_MEMCPY2D_v1_st CUDA_MEMCPY2D_v1;
typedef struct CUDA_MEMCPY3D_v1_st CUDA_MEMCPY3D_v1;
typedef struct CUDA_ARRAY_DESCRIPTOR_v1_st CUDA_ARRAY_DESCRIPTOR_v1;
typedef struct CUDA_ARRAY3D_DESCRIPTOR_v1_st CUDA_ARRAY3D_DESCRIPTOR_v1;

#include <generated_cuda_meta.h>

/* Returns an error if the driver is not initialized; otherwise makes the ENTER callback.  Declares `rc` and `call` for LEAVE(). */
#define ENTER_(fn, param_ptr, kernel)                                                                            \
	CUresult rc = (CUresult)driver_usable();                                                                 \
	struct sim_call call = { .domain = SIM_DRIVER_API, .cbid = CUPTI_DRIVER_TRACE_CBID_##fn, .name = #fn,      \
				 .params = (param_ptr), .symbol = (kernel), .ret = &rc };                        \
	if (rc)                                                                                                  \
		return rc;                                                                                       \
	call_enter(&call)

#define ENTER(fn, ...)                                                                                           \
	fn##_params params_ = { __VA_ARGS__ };                                                                   \
	ENTER_(fn, &params_, NULL)

#define ENTER_KERNEL(fn, kernel, ...)                                                                            \
	fn##_params params_ = { __VA_ARGS__ };                                                                   \
	ENTER_(fn, &params_, kernel)

#define ENTER0(fn) ENTER_(fn, NULL, NULL)

#define LEAVE(result) (rc = (result), call_leave(&call), rc)

#define NEED(condition, error) do { if (!(condition)) return (error); } while (0)

/* Returns the stream of this handle in the thread's context, or NULL. */
static inline struct stream *stream_here(CUstream handle)
{
	return context_current() ? stream_get(context_current(), handle) : NULL;
}

#endif
