/*
 * The part of CUPTI's interface that is used, declared here: the object builds without NVIDIA's headers and runs with every CUPTI from
 * 11.0 to 13.x.  cupti_abi_check.c compares this file with NVIDIA's headers where they are present.
 */
#ifndef INJECT_CUPTI_CUPTI_ABI_H
#define INJECT_CUPTI_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* CUptiResult */
enum cupti_result {
	RESULT_OK = 0,
	RESULT_INVALID_PARAMETER = 1,
	RESULT_MAX_LIMIT = 12,          /* cuptiActivityGetNextRecord: no more records */
	RESULT_NOT_COMPATIBLE = 14,     /* conflicts with another enabled kind */
	RESULT_NOT_INITIALIZED = 15,    /* driver older than this CUPTI needs */
	RESULT_INVALID_KIND = 21,       /* cuptiActivityGetNextRecord: the next bytes are not a record */
	RESULT_UNIFIED_PLATFORM = 28,   /* no unified memory counters on this platform; next: this device, without peer access, under MPS */
	RESULT_UNIFIED_DEVICE = 29,
	RESULT_UNIFIED_NO_PEER = 30,
	RESULT_UNIFIED_MPS = 31,
	RESULT_BUSY = 39,               /* another subscriber exists */
	RESULT_UNKNOWN = 999,           /* no driver */
};

/* CUpti_CallbackDomain */
enum cupti_domain { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_RESOURCE = 3, DOMAIN_STATE = 6 };

/* CUpti_ApiCallbackSite */
enum cupti_site { SITE_ENTER, SITE_EXIT };

/* CUpti_CallbackIdResource */
enum cupti_resource {
	RESOURCE_CONTEXT_CREATED = 1,
	RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	RESOURCE_STREAM_CREATED = 3,
	RESOURCE_CU_INIT_FINISHED = 5,
	RESOURCE_MODULE_LOADED = 6,
	RESOURCE_GRAPH_NODE_CREATED = 13,
	RESOURCE_GRAPH_NODE_CLONED = 20,
};

/* CUpti_CallbackIdState */
enum cupti_state { STATE_FATAL_ERROR = 1, STATE_ERROR = 2 };

/* CUpti_ActivityKind */
enum cupti_kind {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_KERNEL = 3,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_DEVICE = 8,
	KIND_CONTEXT = 9,
	KIND_CONCURRENT_KERNEL = 10,
	KIND_OVERHEAD = 17,
	KIND_CDP_KERNEL = 18,
	KIND_MEMCPY2 = 22,
	KIND_UNIFIED = 25,
	KIND_CUDA_EVENT = 36,
	KIND_STREAM = 37,
	KIND_SYNC = 38,
	KIND_MEMORY = 49,
	KIND_MEMORY_POOL = 50,
	KIND_GRAPH = 51,
	KIND_JIT = 52,
	KIND_DEVICE_GRAPH = 53,
	KIND_GREEN_CONTEXT = 59,        /* from 13.2 on */
};

/* CUpti_ActivityMemoryPoolType */
enum cupti_pool_type { POOL_LOCAL = 1, POOL_IMPORTED = 2 };

/* CUpti_ActivityUnifiedMemoryCounterKind */
enum cupti_unified {
	UNIFIED_HTOD = 1, UNIFIED_DTOH, UNIFIED_CPU_FAULT, UNIFIED_GPU_FAULT, UNIFIED_THRASHING, UNIFIED_THROTTLING, UNIFIED_REMOTE_MAP,
	UNIFIED_DTOD,
};

/* CUpti_ActivityObjectKind, of overhead records */
enum cupti_object { OBJECT_PROCESS = 1, OBJECT_THREAD = 2, OBJECT_DEVICE = 3, OBJECT_CONTEXT = 4, OBJECT_STREAM = 5 };

/* CUpti_ActivityAttribute; each a uint8_t */
#define ATTRIBUTE_ZEROED 5      /* CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER */
#define ATTRIBUTE_HOST_PINNED 8 /* CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED */
#define ATTRIBUTE_PER_THREAD 9  /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER */
#define THREAD_ID_SYSTEM 1u     /* CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM: gettid() */
#define FLUSH_FORCED 1u         /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */

/* CUpti_CallbackData */
struct cupti_call_data {
	int site;                       /* enum cupti_site */
	const char *function;
	const void *params;
	void *result;                   /* at exit: int * */
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;                 /* the subscriber's word, kept from entry to exit of one call */
	uint32_t corr;
};

/*
 * First parameters of (cu|cuda)EventRecord*_params, (cu|cuda)StreamWaitEvent*_params, (cu|cuda)EventSynchronize_params,
 * (cu|cuda)EventElapsedTime*_params
 */
struct cupti_record_params {
	void *event, *stream;
};

struct cupti_wait_params {
	void *stream, *event;
};

struct cupti_await_params {
	void *event;
};

struct cupti_elapsed_params {
	const float *ms;
	void *start, *end;
};

/*
 * (cu|cuda)GraphInstantiate*_params that have flags.  The "WithParams" variants have a pointer there, whose target begins with the flags.
 */
struct cupti_instantiate_params {
	void *exec, *graph;
	uint64_t flags;
};

#define INSTANTIATE_DEVICE_LAUNCH 4u    /* cudaGraphInstantiateFlagDeviceLaunch */

/* cuDevicePrimaryCtxRetain_params, cuDevicePrimaryCtxRelease*_params */
struct cupti_retain_params {
	void **context;
	int device;
};

struct cupti_release_params {
	int device;
};

/* CUpti_ResourceData */
struct cupti_resource_data {
	void *context, *stream, *descriptor;
};

/* CUpti_ModuleResourceData: target of the descriptor in resource callbacks about modules */
struct cupti_module_data {
	uint32_t id;
	size_t size;
	const char *cubin;
};

/* CUpti_GraphData: target of the descriptor in resource callbacks about graphs */
struct cupti_graph_data {
	void *graph, *original_graph;
	void *node, *original_node;
	int node_type;                  /* CUgraphNodeType */
	void *dependency, *exec;
};

/* CUpti_StateData */
struct cupti_state_data {
	int result;
	const char *message;            /* may be NULL */
};

/* CUpti_ActivityUnifiedMemoryCounterConfig; scope and device are ignored since CUDA 7.0 */
struct cupti_unified_config {
	int scope, kind;
	uint32_t device, enable;
};

/* CUpti_SubscriberParams */
struct cupti_subscriber_params {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
};


#define HOLDER_NAME_SIZE 64     /* CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN */

#endif
