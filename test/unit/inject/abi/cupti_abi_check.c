/*
 * Compares inject/cupti/cupti_abi.h, cupti_layout.h and cupti_calls.def with NVIDIA's headers.  Only compiled (scripts/check-cupti.sh), never
 * linked: whatever is wrong does not compile.
 */
#include "inject/cupti/cupti_abi.h"

#include <cuda.h>
#include <cupti.h>

#include "inject/cupti/cupti_layout.h"
#include "inject/cupti/cupti_load.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
#define FIELD(ours, type, member) _Static_assert((ours) == offsetof(type, member), #ours " is not where " #type " has " #member)
#define MEMBER(struct_, ours, type, member)                                                                       \
	_Static_assert(offsetof(struct struct_, ours) == offsetof(type, member) &&                                \
		       sizeof(((struct struct_ *)0)->ours) == sizeof(((type *)0)->member), #struct_ "." #ours " is not " #type "." #member)

SAME(RESULT_OK, CUPTI_SUCCESS);
SAME(RESULT_MAX_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(RESULT_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
SAME(RESULT_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME(RESULT_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
SAME(RESULT_UNKNOWN, CUPTI_ERROR_UNKNOWN);
SAME(DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME(SITE_ENTER, CUPTI_API_ENTER);
SAME(SITE_EXIT, CUPTI_API_EXIT);
SAME(RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED);
SAME(RESOURCE_CU_INIT_FINISHED, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
SAME(RESOURCE_GRAPH_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(RESOURCE_GRAPH_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME(KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
SAME(KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME(KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(KIND_CDP_KERNEL, CUPTI_ACTIVITY_KIND_CDP_KERNEL);
SAME(KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME(KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(KIND_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
SAME(KIND_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(KIND_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
SAME(KIND_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 26
SAME(KIND_DEVICE_GRAPH, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
#endif
#if CUPTI_API_VERSION >= 130200
SAME(KIND_GREEN_CONTEXT, CUPTI_ACTIVITY_KIND_GREEN_CONTEXT);
#endif
SAME(ATTRIBUTE_ZEROED, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(ATTRIBUTE_HOST_PINNED, CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
SAME(OBJECT_PROCESS, CUPTI_ACTIVITY_OBJECT_PROCESS);
SAME(OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME(OBJECT_DEVICE, CUPTI_ACTIVITY_OBJECT_DEVICE);
SAME(OBJECT_CONTEXT, CUPTI_ACTIVITY_OBJECT_CONTEXT);
SAME(OBJECT_STREAM, CUPTI_ACTIVITY_OBJECT_STREAM);
SAME(THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME(FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

MEMBER(cupti_call_data, site, CUpti_CallbackData, callbackSite);
MEMBER(cupti_call_data, function, CUpti_CallbackData, functionName);
MEMBER(cupti_call_data, result, CUpti_CallbackData, functionReturnValue);
MEMBER(cupti_call_data, context, CUpti_CallbackData, context);
MEMBER(cupti_call_data, context_id, CUpti_CallbackData, contextUid);
MEMBER(cupti_call_data, data, CUpti_CallbackData, correlationData);
MEMBER(cupti_call_data, corr, CUpti_CallbackData, correlationId);
MEMBER(cupti_resource_data, context, CUpti_ResourceData, context);
MEMBER(cupti_resource_data, stream, CUpti_ResourceData, resourceHandle);
MEMBER(cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
MEMBER(cupti_graph_data, node, CUpti_GraphData, node);
MEMBER(cupti_graph_data, original_node, CUpti_GraphData, originalNode);
MEMBER(cupti_graph_data, node_type, CUpti_GraphData, nodeType);

MEMBER(cupti_record_params, event, cudaEventRecord_v3020_params, event);
MEMBER(cupti_record_params, stream, cudaEventRecord_v3020_params, stream);
MEMBER(cupti_record_params, stream, cudaEventRecordWithFlags_v11010_params, stream);
MEMBER(cupti_record_params, stream, cuEventRecord_params, hStream);
MEMBER(cupti_record_params, stream, cuEventRecordWithFlags_params, hStream);
MEMBER(cupti_wait_params, stream, cudaStreamWaitEvent_v3020_params, stream);
MEMBER(cupti_wait_params, event, cudaStreamWaitEvent_v3020_params, event);
MEMBER(cupti_wait_params, stream, cuStreamWaitEvent_params, hStream);
MEMBER(cupti_wait_params, event, cuStreamWaitEvent_params, hEvent);
MEMBER(cupti_await_params, event, cudaEventSynchronize_v3020_params, event);
MEMBER(cupti_await_params, event, cuEventSynchronize_params, hEvent);
MEMBER(cupti_elapsed_params, ms, cuEventElapsedTime_params, pMilliseconds);
MEMBER(cupti_elapsed_params, end, cuEventElapsedTime_params, hEnd);
MEMBER(cupti_elapsed_params, start, cuEventElapsedTime_params, hStart);
MEMBER(cupti_retain_params, context, cuDevicePrimaryCtxRetain_params, pctx);
MEMBER(cupti_retain_params, device, cuDevicePrimaryCtxRetain_params, dev);
MEMBER(cupti_release_params, device, cuDevicePrimaryCtxRelease_params, dev);
MEMBER(cupti_release_params, device, cuDevicePrimaryCtxRelease_v2_params, dev);
MEMBER(cupti_instantiate_params, flags, cudaGraphInstantiateWithFlags_v11040_params, flags);
MEMBER(cupti_instantiate_params, flags, cuGraphInstantiateWithFlags_params, flags);
#if CUPTI_API_VERSION >= 19
MEMBER(cupti_instantiate_params, flags, cudaGraphInstantiate_v12000_params, flags);
MEMBER(cupti_instantiate_params, flags, cudaGraphInstantiateWithParams_v12000_params, instantiateParams);
MEMBER(cupti_instantiate_params, flags, cuGraphInstantiateWithParams_params, instantiateParams);
_Static_assert(offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, flags) == 0, "flags are the first");
SAME(INSTANTIATE_DEVICE_LAUNCH, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
#endif
#if CUPTI_API_VERSION >= 130000
MEMBER(cupti_elapsed_params, ms, cudaEventElapsedTime_v12080_params, ms);
MEMBER(cupti_elapsed_params, end, cudaEventElapsedTime_v12080_params, end);
#endif

/* Every call of the list has the number and the name that CUPTI gives it. */
#define CUPTI_CALL(domain, cbid, class, name) _Static_assert(CUPTI_##domain##_TRACE_CBID_##name == (cbid), #cbid " is not " #name);
#define CUPTI_CALLS_UP_TO CUPTI_API_VERSION
#if CUPTI_API_VERSION >= 130000         /* older headers lack the newest names */
#include "inject/cupti/cupti_calls.def"
#endif
#undef CUPTI_CALL

/* Every function exists under that name. */
#define CUPTI_FN(needed, name, params) _Static_assert(sizeof &cupti##name == sizeof(((struct cupti *)0)->name), #name);
#if CUPTI_API_VERSION >= 130000
#include "inject/cupti/cupti_api.def"

SAME(RESULT_BUSY, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
SAME(STATE_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
SAME(STATE_ERROR, CUPTI_CBID_STATE_ERROR);
SAME(HOLDER_NAME_SIZE, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
MEMBER(cupti_state_data, result, CUpti_StateData, notification.result);
MEMBER(cupti_state_data, message, CUpti_StateData, notification.message);
MEMBER(cupti_subscriber_params, size, CUpti_SubscriberParams, structSize);
MEMBER(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
MEMBER(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
MEMBER(cupti_subscriber_params, old_size, CUpti_SubscriberParams, oldSubscriberSize);
/* From 13.2 on it is longer; the size that is told says which fields there are. */
_Static_assert(sizeof(struct cupti_subscriber_params) <= CUpti_SubscriberParams_STRUCT_SIZE, "size of the subscriber's parameters");
#if CUPTI_API_VERSION < 130200
_Static_assert(sizeof(struct cupti_subscriber_params) == CUpti_SubscriberParams_STRUCT_SIZE, "size of the subscriber's parameters");
#endif
#endif
#undef CUPTI_FN

/* ---- records ---- */

#define KERNEL_FIELDS(type)                                                                                       \
	FIELD(KERNEL_REGISTERS, type, registersPerThread);                                                        \
	FIELD(KERNEL_START, type, start);                                                                         \
	FIELD(KERNEL_END, type, end);                                                                             \
	FIELD(KERNEL_DEVICE, type, deviceId);                                                                     \
	FIELD(KERNEL_CONTEXT, type, contextId);                                                                   \
	FIELD(KERNEL_STREAM, type, streamId);                                                                     \
	FIELD(KERNEL_GRID, type, gridX);                                                                          \
	FIELD(KERNEL_GRID + 8, type, gridZ);                                                                      \
	FIELD(KERNEL_BLOCK, type, blockX);                                                                        \
	FIELD(KERNEL_BLOCK + 8, type, blockZ);                                                                    \
	FIELD(KERNEL_STATIC_SHARED, type, staticSharedMemory);                                                    \
	FIELD(KERNEL_DYNAMIC_SHARED, type, dynamicSharedMemory);                                                  \
	FIELD(KERNEL_LOCAL, type, localMemoryPerThread);                                                          \
	FIELD(KERNEL_CORR, type, correlationId);                                                                  \
	FIELD(KERNEL_NAME, type, name);                                                                           \
	FIELD(KERNEL_LAUNCH_TYPE, type, launchType);                                                              \
	FIELD(KERNEL_SHARED_EXECUTED, type, sharedMemoryExecuted)

#define COPY_FIELDS(type)                                                                                         \
	FIELD(MEMCPY_KIND, type, copyKind);                                                                       \
	FIELD(MEMCPY_SRC_KIND, type, srcKind);                                                                    \
	FIELD(MEMCPY_DST_KIND, type, dstKind);                                                                    \
	FIELD(MEMCPY_FLAGS, type, flags);                                                                         \
	FIELD(MEMCPY_BYTES, type, bytes);                                                                         \
	FIELD(MEMCPY_START, type, start);                                                                         \
	FIELD(MEMCPY_END, type, end);                                                                             \
	FIELD(MEMCPY_DEVICE, type, deviceId);                                                                     \
	FIELD(MEMCPY_CONTEXT, type, contextId);                                                                   \
	FIELD(MEMCPY_STREAM, type, streamId)

#define SET_FIELDS(type)                                                                                          \
	FIELD(MEMSET_VALUE, type, value);                                                                         \
	FIELD(MEMSET_BYTES, type, bytes);                                                                         \
	FIELD(MEMSET_START, type, start);                                                                         \
	FIELD(MEMSET_END, type, end);                                                                             \
	FIELD(MEMSET_DEVICE, type, deviceId);                                                                     \
	FIELD(MEMSET_CONTEXT, type, contextId);                                                                   \
	FIELD(MEMSET_STREAM, type, streamId);                                                                     \
	FIELD(MEMSET_CORR, type, correlationId);                                                                  \
	FIELD(MEMSET_FLAGS, type, flags);                                                                         \
	FIELD(MEMSET_MEM_KIND, type, memoryKind)

#define SYNC_FIELDS(record)                                                                                       \
	FIELD(SYNC_TYPE, record, type);                                                                           \
	FIELD(SYNC_START, record, start);                                                                         \
	FIELD(SYNC_END, record, end);                                                                             \
	FIELD(SYNC_CORR, record, correlationId);                                                                  \
	FIELD(SYNC_CONTEXT, record, contextId);                                                                   \
	FIELD(SYNC_STREAM, record, streamId);                                                                     \
	FIELD(SYNC_EVENT, record, cudaEventId)

#define OVERHEAD_FIELDS(type)                                                                                     \
	FIELD(OVERHEAD_KIND, type, overheadKind);                                                                 \
	FIELD(OVERHEAD_OBJECT_KIND, type, objectKind);                                                            \
	FIELD(OVERHEAD_OBJECT, type, objectId);                                                                   \
	FIELD(OVERHEAD_START, type, start);                                                                       \
	FIELD(OVERHEAD_END, type, end)

#define DEVICE_FIELDS(type)                                                                                       \
	FIELD(DEVICE_BANDWIDTH, type, globalMemoryBandwidth);                                                     \
	FIELD(DEVICE_MEMORY, type, globalMemorySize);                                                             \
	FIELD(DEVICE_L2, type, l2CacheSize);                                                                      \
	FIELD(DEVICE_WARP, type, numThreadsPerWarp);                                                              \
	FIELD(DEVICE_CLOCK, type, coreClockRate);                                                                 \
	FIELD(DEVICE_SM_COUNT, type, numMultiprocessors);                                                         \
	FIELD(DEVICE_MAX_WARPS, type, maxWarpsPerMultiprocessor);                                                 \
	FIELD(DEVICE_MAX_BLOCKS, type, maxBlocksPerMultiprocessor);                                               \
	FIELD(DEVICE_MAX_SHARED_SM, type, maxSharedMemoryPerMultiprocessor);                                      \
	FIELD(DEVICE_MAX_REGISTERS, type, maxRegistersPerMultiprocessor);                                         \
	FIELD(DEVICE_MAX_REGISTERS_BLOCK, type, maxRegistersPerBlock);                                            \
	FIELD(DEVICE_MAX_SHARED_BLOCK, type, maxSharedMemoryPerBlock);                                            \
	FIELD(DEVICE_MAX_THREADS, type, maxThreadsPerBlock);                                                      \
	FIELD(DEVICE_CC_MAJOR, type, computeCapabilityMajor);                                                     \
	FIELD(DEVICE_CC_MINOR, type, computeCapabilityMinor);                                                     \
	FIELD(DEVICE_ID, type, id);                                                                               \
	FIELD(DEVICE_UUID, type, uuid);                                                                           \
	FIELD(DEVICE_NAME, type, name)

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " is not of " #size " bytes")

/* What 11.8 and later headers all know; each is a row of cupti_layout.c. */
KERNEL_FIELDS(CUpti_ActivityKernel5);
KERNEL_FIELDS(CUpti_ActivityKernel8);
SIZE(CUpti_ActivityKernel5, 160);
SIZE(CUpti_ActivityKernel6, 168);
SIZE(CUpti_ActivityKernel7, 176);
SIZE(CUpti_ActivityKernel8, 200);
FIELD(144, CUpti_ActivityKernel5, graphNodeId);
FIELD(156, CUpti_ActivityKernel5, graphId);
FIELD(176, CUpti_ActivityKernel8, clusterX);
FIELD(184, CUpti_ActivityKernel8, clusterZ);
COPY_FIELDS(CUpti_ActivityMemcpy3);
COPY_FIELDS(CUpti_ActivityMemcpy5);
FIELD(MEMCPY_CORR, CUpti_ActivityMemcpy5, correlationId);
FIELD(64, CUpti_ActivityMemcpy5, graphNodeId);
FIELD(72, CUpti_ActivityMemcpy5, graphId);
SIZE(CUpti_ActivityMemcpy3, 72);
SIZE(CUpti_ActivityMemcpy4, 80);
SIZE(CUpti_ActivityMemcpy5, 88);
COPY_FIELDS(CUpti_ActivityMemcpyPtoP2);
COPY_FIELDS(CUpti_ActivityMemcpyPtoP4);
FIELD(PEER_SRC_DEVICE, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
FIELD(PEER_DST_DEVICE, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
FIELD(PEER_CORR, CUpti_ActivityMemcpyPtoP4, correlationId);
FIELD(72, CUpti_ActivityMemcpyPtoP4, graphNodeId);
FIELD(80, CUpti_ActivityMemcpyPtoP4, graphId);
SIZE(CUpti_ActivityMemcpyPtoP2, 80);
SIZE(CUpti_ActivityMemcpyPtoP3, 88);
SIZE(CUpti_ActivityMemcpyPtoP4, 96);
SET_FIELDS(CUpti_ActivityMemset2);
SET_FIELDS(CUpti_ActivityMemset4);
FIELD(64, CUpti_ActivityMemset4, graphNodeId);
FIELD(72, CUpti_ActivityMemset4, graphId);
SIZE(CUpti_ActivityMemset2, 72);
SIZE(CUpti_ActivityMemset3, 80);
SIZE(CUpti_ActivityMemset4, 88);
SYNC_FIELDS(CUpti_ActivitySynchronization);
SIZE(CUpti_ActivitySynchronization, 40);
OVERHEAD_FIELDS(CUpti_ActivityOverhead);
SIZE(CUpti_ActivityOverhead, 40);
DEVICE_FIELDS(CUpti_ActivityDevice2);
DEVICE_FIELDS(CUpti_ActivityDevice4);
SIZE(CUpti_ActivityDevice2, 144);
FIELD(DEVICE_IS_VISIBLE, CUpti_ActivityDevice4, isCudaVisible);
FIELD(DEVICE_IS_MIG, CUpti_ActivityDevice4, isMigEnabled);
FIELD(DEVICE_GPU_INSTANCE, CUpti_ActivityDevice4, gpuInstanceId);
FIELD(DEVICE_COMPUTE_INSTANCE, CUpti_ActivityDevice4, computeInstanceId);
FIELD(DEVICE_MIG_UUID, CUpti_ActivityDevice4, migUuid);
SIZE(CUpti_ActivityDevice4, DEVICE_WITH_MIG);
FIELD(CONTEXT_ID, CUpti_ActivityContext, contextId);
FIELD(CONTEXT_DEVICE, CUpti_ActivityContext, deviceId);
FIELD(CONTEXT_API, CUpti_ActivityContext, computeApiKind);
FIELD(CONTEXT_NULL_STREAM, CUpti_ActivityContext, nullStreamId);
SIZE(CUpti_ActivityContext, 16);
FIELD(STREAM_CONTEXT, CUpti_ActivityStream, contextId);
FIELD(STREAM_ID, CUpti_ActivityStream, streamId);
FIELD(STREAM_PRIORITY, CUpti_ActivityStream, priority);
FIELD(STREAM_FLAGS, CUpti_ActivityStream, flag);
SIZE(CUpti_ActivityStream, 24);

#define GRAPH_FIELDS(type)                                                                                        \
	FIELD(GRAPH_CORR, type, correlationId);                                                                   \
	FIELD(GRAPH_START, type, start);                                                                          \
	FIELD(GRAPH_END, type, end);                                                                              \
	FIELD(GRAPH_DEVICE, type, deviceId);                                                                      \
	FIELD(GRAPH_ID, type, graphId);                                                                           \
	FIELD(GRAPH_CONTEXT, type, contextId);                                                                    \
	FIELD(GRAPH_STREAM, type, streamId)

#define MEMORY_FIELDS(type)                                                                                       \
	FIELD(MEMORY_OPERATION, type, memoryOperationType);                                                       \
	FIELD(MEMORY_KIND, type, memoryKind);                                                                     \
	FIELD(MEMORY_CORR, type, correlationId);                                                                  \
	FIELD(MEMORY_ADDRESS, type, address);                                                                     \
	FIELD(MEMORY_BYTES, type, bytes);                                                                         \
	FIELD(MEMORY_TIME, type, timestamp);                                                                      \
	FIELD(MEMORY_DEVICE, type, deviceId);                                                                     \
	FIELD(MEMORY_CONTEXT, type, contextId);                                                                   \
	FIELD(MEMORY_STREAM, type, streamId);                                                                     \
	FIELD(MEMORY_NAME, type, name);                                                                           \
	FIELD(MEMORY_IS_ASYNC, type, isAsync);                                                                    \
	FIELD(MEMORY_POOL_TYPE, type, memoryPoolConfig.memoryPoolType);                                           \
	FIELD(MEMORY_POOL, type, memoryPoolConfig.address);                                                       \
	FIELD(MEMORY_POOL_SIZE, type, memoryPoolConfig.pool.size)

#define POOL_FIELDS(type)                                                                                         \
	FIELD(POOL_OPERATION, type, memoryPoolOperationType);                                                     \
	FIELD(POOL_TYPE, type, memoryPoolType);                                                                   \
	FIELD(POOL_CORR, type, correlationId);                                                                    \
	FIELD(POOL_DEVICE, type, deviceId);                                                                       \
	FIELD(POOL_KEEP, type, minBytesToKeep);                                                                   \
	FIELD(POOL_ADDRESS, type, address);                                                                       \
	FIELD(POOL_SIZE, type, size);                                                                             \
	FIELD(POOL_THRESHOLD, type, releaseThreshold);                                                            \
	FIELD(POOL_TIME, type, timestamp)

MEMORY_FIELDS(CUpti_ActivityMemory2);
SIZE(CUpti_ActivityMemory2, 112);
MEMORY_FIELDS(CUpti_ActivityMemory3);
FIELD(112, CUpti_ActivityMemory3, memoryPoolConfig.utilizedSize);
SIZE(CUpti_ActivityMemory3, 120);
POOL_FIELDS(CUpti_ActivityMemoryPool);
SIZE(CUpti_ActivityMemoryPool, 64);
POOL_FIELDS(CUpti_ActivityMemoryPool2);
FIELD(64, CUpti_ActivityMemoryPool2, utilizedSize);
SIZE(CUpti_ActivityMemoryPool2, 72);
SAME(POOL_LOCAL, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
SAME(POOL_IMPORTED, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
#if CUPTI_API_VERSION >= 26
MEMORY_FIELDS(CUpti_ActivityMemory4);
FIELD(112, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize);
SIZE(CUpti_ActivityMemory4, 128);
#endif
#if CUPTI_API_VERSION >= 130000
POOL_FIELDS(CUpti_ActivityMemoryPool3);
FIELD(64, CUpti_ActivityMemoryPool3, utilizedSize);
SIZE(CUpti_ActivityMemoryPool3, 80);
#endif

#define JIT_FIELDS(type)                                                                                          \
	FIELD(JIT_ENTRY, type, jitEntryType);                                                                     \
	FIELD(JIT_OPERATION, type, jitOperationType);                                                             \
	FIELD(JIT_DEVICE, type, deviceId);                                                                        \
	FIELD(JIT_START, type, start);                                                                            \
	FIELD(JIT_END, type, end);                                                                                \
	FIELD(JIT_CORR, type, correlationId);                                                                     \
	FIELD(JIT_JOB, type, jitOperationCorrelationId);                                                          \
	FIELD(JIT_CACHE_SIZE, type, cacheSize);                                                                   \
	FIELD(JIT_CACHE_PATH, type, cachePath)

JIT_FIELDS(CUpti_ActivityJit);
SIZE(CUpti_ActivityJit, 64);
#if CUPTI_API_VERSION >= 22
JIT_FIELDS(CUpti_ActivityJit2);
FIELD(68, CUpti_ActivityJit2, threadId);
SIZE(CUpti_ActivityJit2, 72);
#endif
MEMBER(cupti_module_data, id, CUpti_ModuleResourceData, moduleId);
MEMBER(cupti_module_data, size, CUpti_ModuleResourceData, cubinSize);
SAME(KIND_JIT, CUPTI_ACTIVITY_KIND_JIT);
SAME(RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);

#define UNIFIED_FIELDS(type)                                                                                      \
	FIELD(UNIFIED_KIND, type, counterKind);                                                                   \
	FIELD(UNIFIED_VALUE, type, value);                                                                        \
	FIELD(UNIFIED_START, type, start);                                                                        \
	FIELD(UNIFIED_END, type, end);                                                                            \
	FIELD(UNIFIED_ADDRESS, type, address);                                                                    \
	FIELD(UNIFIED_SOURCE, type, srcId);                                                                       \
	FIELD(UNIFIED_TARGET, type, dstId);                                                                       \
	FIELD(UNIFIED_FLAGS, type, flags)

UNIFIED_FIELDS(CUpti_ActivityUnifiedMemoryCounter2);
SIZE(CUpti_ActivityUnifiedMemoryCounter2, 64);
#if CUPTI_API_VERSION >= 26
UNIFIED_FIELDS(CUpti_ActivityUnifiedMemoryCounter3);
FIELD(64, CUpti_ActivityUnifiedMemoryCounter3, processors);
SIZE(CUpti_ActivityUnifiedMemoryCounter3, 104);
#endif
SAME(KIND_UNIFIED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME(UNIFIED_HTOD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
SAME(UNIFIED_DTOH, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
SAME(UNIFIED_CPU_FAULT, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
SAME(UNIFIED_GPU_FAULT, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
SAME(UNIFIED_THRASHING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING);
SAME(UNIFIED_THROTTLING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING);
SAME(UNIFIED_REMOTE_MAP, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
SAME(UNIFIED_DTOD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
SAME(RESULT_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
SAME(RESULT_UNIFIED_PLATFORM, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED);
SAME(RESULT_UNIFIED_DEVICE, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE);
SAME(RESULT_UNIFIED_NO_PEER, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES);
SAME(RESULT_UNIFIED_MPS, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS);
MEMBER(cupti_unified_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
MEMBER(cupti_unified_config, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
MEMBER(cupti_unified_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
MEMBER(cupti_unified_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
_Static_assert(sizeof(struct cupti_unified_config) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig), "size of a counter's configuration");

GRAPH_FIELDS(CUpti_ActivityGraphTrace);
SIZE(CUpti_ActivityGraphTrace, 48);
#if CUPTI_API_VERSION >= 22
GRAPH_FIELDS(CUpti_ActivityGraphTrace2);
FIELD(48, CUpti_ActivityGraphTrace2, endDeviceId);
SIZE(CUpti_ActivityGraphTrace2, 56);
#endif

#if CUPTI_API_VERSION >= 19
KERNEL_FIELDS(CUpti_ActivityKernel9);
SIZE(CUpti_ActivityKernel9, 208);
#endif
#if CUPTI_API_VERSION >= 22
FIELD(40, CUpti_ActivityOverhead2, correlationId);
SIZE(CUpti_ActivityOverhead2, 48);
OVERHEAD_FIELDS(CUpti_ActivityOverhead3);
FIELD(40, CUpti_ActivityOverhead3, correlationId);
FIELD(48, CUpti_ActivityOverhead3, overheadData);
SIZE(CUpti_ActivityOverhead3, 56);
#endif
#if CUPTI_API_VERSION >= 26
SAME(ATTRIBUTE_PER_THREAD, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
SYNC_FIELDS(CUpti_ActivitySynchronization2);
FIELD(48, CUpti_ActivitySynchronization2, returnValue);
SIZE(CUpti_ActivitySynchronization2, 56);
COPY_FIELDS(CUpti_ActivityMemcpy6);
FIELD(88, CUpti_ActivityMemcpy6, copyCount);
SIZE(CUpti_ActivityMemcpy6, 96);
#endif
#if CUPTI_API_VERSION >= 130000
KERNEL_FIELDS(CUpti_ActivityKernel10);
FIELD(144, CUpti_ActivityKernel10, graphNodeId);
FIELD(156, CUpti_ActivityKernel10, graphId);
FIELD(176, CUpti_ActivityKernel10, clusterX);
SIZE(CUpti_ActivityKernel10, 216);
DEVICE_FIELDS(CUpti_ActivityDevice5);
SIZE(CUpti_ActivityDevice5, 184);
FIELD(CONTEXT_NULL_STREAM, CUpti_ActivityContext3, nullStreamId);
#endif
