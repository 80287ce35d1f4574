/* CUPTI's activity API: enabled kinds, attributes, and the choice of operations and calls that become records. */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_CBIDS 1024
#define N_EXTERNAL 6
#define EXTERNAL_DEPTH 64
#define BY_VERSION 255          /* not set by the client: 0 before 13.0, 1 from 13.0 on */

_Atomic uint8_t kind_on[N_KINDS];
static _Atomic uint8_t api_on[3][N_CBIDS];
static _Atomic uint8_t counter_on[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT];
static _Atomic bool all_sync_records = true;
static CUpti_ActivityThreadIdType thread_id_type;

/* Indexed by CUpti_ActivityAttribute.  size: bytes of the value; value: initially the default. */
static struct { size_t size; uint64_t value; } attributes[] = {
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = { sizeof(size_t), 3200000 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = { sizeof(size_t), 8 << 20 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = { sizeof(size_t), 250 },
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE] = { sizeof(size_t), 25000 },
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT] = { sizeof(size_t), 250 },
	[CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = { 1, 0 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = { sizeof(size_t), 3 },
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE] = { sizeof(size_t), 3 },
	[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = { 1, 0 },
	[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER] = { 1, BY_VERSION },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = { sizeof(size_t), 16777216 },
};
#define N_ATTRIBUTES (sizeof(attributes) / sizeof(*attributes))

static __thread struct { uint64_t id[EXTERNAL_DEPTH]; int depth; } external[N_EXTERNAL];

/* SIM_PER_THREAD=0|1 overrides the attribute and the version's default. */
bool activity_per_thread(void)
{
	const char *value = getenv("SIM_PER_THREAD");

	uint64_t chosen = attributes[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER].value;

	if (value)
		return atoi(value);
	return chosen == BY_VERSION ? cupti_version() >= 130000 : chosen != 0;
}

/* ---- records of operations and calls ---- */

static uint32_t op_kind(const struct op *op)
{
	switch (op->type) {
	case OP_KERNEL:
		return kind_on[CUPTI_ACTIVITY_KIND_KERNEL] ? CUPTI_ACTIVITY_KIND_KERNEL :
							     CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	case OP_MEMCPY:
		return op->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP ? CUPTI_ACTIVITY_KIND_MEMCPY2 :
									  CUPTI_ACTIVITY_KIND_MEMCPY;
	case OP_MEMSET:
		return CUPTI_ACTIVITY_KIND_MEMSET;
	case OP_SYNC:
		return CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
	case OP_OVERHEAD:
		return CUPTI_ACTIVITY_KIND_OVERHEAD;
	case OP_GRAPH:
		return CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
	case OP_UNIFIED:
		return CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
	case OP_JIT:
		return CUPTI_ACTIVITY_KIND_JIT;
	case OP_POOL:
		return CUPTI_ACTIVITY_KIND_MEMORY_POOL;
	default:
		return CUPTI_ACTIVITY_KIND_MEMORY2;
	}
}

/* Copies the record and cuts or extends it to the simulated release's size, which is returned. */
static size_t sized(uint8_t out[512], const void *record, size_t size)
{
	memset(out, 0, 512);
	memcpy(out, record, size);
	return record_extend(out, size, *(const uint32_t *)record);
}

static void put(const void *record, size_t size)
{
	uint8_t out[512] __attribute__((aligned(8)));

	size = sized(out, record, size);
	buffer_put(out, size, 0);
}

void activity_put_later(const void *record, size_t size)
{
	uint8_t out[512] __attribute__((aligned(8)));

	size = sized(out, record, size);
	buffer_put_later(out, size);
}

/* SIM_UNKNOWN_KIND=N: before every Nth record, one of an unknown kind. */
static void put_unknown(void)
{
	static _Atomic int64_t every = -1;
	static _Atomic uint64_t n;
	uint32_t record[UNKNOWN_SIZE / 4] = { UNKNOWN_KIND };

	if (every < 0) {
		const char *value = getenv("SIM_UNKNOWN_KIND");

		every = value ? atoll(value) : 0;
	}
	if (every && ++n % (uint64_t)every == 0)
		buffer_put(record, sizeof(record), 0);
}

/* SIM_LOSE_KERNELS=N: every Nth kernel has no record and is not counted as dropped, as if its context was destroyed before delivery. */
static bool lose(const struct op *op)
{
	static _Atomic int64_t every = -1;
	static _Atomic uint64_t n;

	if (every < 0) {
		const char *value = getenv("SIM_LOSE_KERNELS");

		every = value ? atoll(value) : 0;
	}
	return every && op->type == OP_KERNEL && ++n % (uint64_t)every == 0;
}

/* SIM_GRAPH_CRASH=N: SIGSEGV at the Nth graph operation, as in long runs of CUPTI 12.1 to 13.0 without pinned host memory. */
static void maybe_crash(const struct op *op)
{
	static _Atomic int64_t left = -1;

	if (!op->graph || sim_release() >= RELEASE(13, 0, 85) || sim_release() < RELEASE(12, 1, 0) ||
	    attributes[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED].value)
		return;
	if (left < 0) {
		const char *value = getenv("SIM_GRAPH_CRASH");

		left = value ? atoll(value) : 0;
	}
	if (left && !--left)
		raise(SIGSEGV);
}

/* SIM_CDP=N: every Nth kernel launches a kernel from the GPU, which gets a CDP_KERNEL record. */
static void put_child(const struct op *op)
{
	static _Atomic int64_t every = -1;
	static _Atomic uint64_t n;
	uint8_t record[512] __attribute__((aligned(8)));
	CUpti_ActivityCdpKernel r = {
		.kind = CUPTI_ACTIVITY_KIND_CDP_KERNEL, .start = op->start, .end = op->end, .completed = op->end,
		.deviceId = op->device, .contextId = op->context, .streamId = op->stream, .correlationId = op->corr, .name = op->name,
	};

	if (every < 0) {
		const char *value = getenv("SIM_CDP");

		every = value ? atoll(value) : 0;
	}
	if (!every || op->type != OP_KERNEL || ++n % (uint64_t)every)
		return;
	buffer_put(record, sized(record, &r, sizeof(r)), op->done);
}

/* Up to 12.8, enabling SYNCHRONIZATION also enables CUDA_EVENT records. */
void activity_event(const struct event *e, const struct stream *s)
{
	bool along = sim_release() < RELEASE(12, 9, 0) && kind_on[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION];
	CUpti_ActivityCudaEvent2 r = {
		.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT, .correlationId = drv->correlation(), .contextId = s->ctx->id, .streamId = s->id,
		.eventId = e->id, .deviceId = (uint32_t)s->ctx->dev->ordinal,
	};

	if ((!along && !kind_on[CUPTI_ACTIVITY_KIND_CUDA_EVENT]) || cupti_at_end() || replay_on())
		return;
	put(&r, sizeof(r));
}

bool activity_zeroed(void)
{
	return attributes[CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER].value;
}

enum op_fate activity_op(const struct op *op)
{
	enum op_fate fate;
	uint8_t record[512] __attribute__((aligned(8)));
	uint32_t kind = op_kind(op);
	struct op wrong;
	size_t size;

	if (!kind_on[kind] || cupti_at_end() || replay_on())
		return OP_NOT_ENABLED;
	if (op->graph && op->type != OP_GRAPH && kind_on[CUPTI_ACTIVITY_KIND_GRAPH_TRACE])
		return OP_NOT_ENABLED;  /* one GRAPH_TRACE record per launch replaces the nodes' records */
	if (op->type == OP_UNIFIED && !counter_on[op->value])
		return OP_NOT_ENABLED;
	if (op->type == OP_SYNC && op->result && !all_sync_records)
		return OP_NOT_ENABLED;
	if (lose(op) || fault_loses(op))
		return OP_LOST;
	put_unknown();
	size = record_from_op(fault_correlation(op, &wrong), kind, record);
	maybe_crash(op);
	fate = buffer_put(record, size, op->type == OP_GRAPH || record_has_gpu_times(kind) ? op->done : 0);
	put_child(op);
	return fate;
}

static uint32_t thread_id(void)
{
	return thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? (uint32_t)syscall(SYS_gettid) :
									(uint32_t)pthread_self();
}

static bool api_wanted(const struct sim_call *call)
{
	uint32_t kind = call->domain == SIM_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;

	return kind_on[kind] || (call->cbid < N_CBIDS && api_on[call->domain][call->cbid]);
}

void activity_enter(const struct sim_call *call)
{
	CUpti_ActivityExternalCorrelation record = { .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
						     .correlationId = call->corr };

	if (!kind_on[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] || !kind_on[CUPTI_ACTIVITY_KIND_RUNTIME] ||
	    !kind_on[CUPTI_ACTIVITY_KIND_DRIVER])
		return;
	for (int i = 0; i < N_EXTERNAL; i++) {
		if (!external[i].depth)
			continue;
		record.externalKind = (CUpti_ExternalCorrelationKind)i;
		record.externalId = external[i].id[external[i].depth - 1];
		put(&record, sizeof(record));
	}
}

void activity_api(const struct sim_call *call)
{
	CUpti_ActivityAPI record;

	if (!api_wanted(call) || cupti_at_end() || replay_on())
		return;
	record = (CUpti_ActivityAPI){
		.kind = call->domain == SIM_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER,
		.cbid = call->cbid, .start = call->begin, .end = call->end, .processId = (uint32_t)getpid(),
		.threadId = thread_id(), .correlationId = call->corr, .returnValue = *(uint32_t *)call->ret,
	};
	put(&record, sizeof(record));
}

/* ---- functions that the client calls ---- */

/* SIM_REFUSE_KINDS=10,1: enabling these kinds returns CUPTI_ERROR_NOT_SUPPORTED. */
static bool kind_refused(CUpti_ActivityKind kind)
{
	const char *p = getenv("SIM_REFUSE_KINDS");

	for (; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (atoi(p) == (int)kind)
			return true;
	return false;
}

static CUptiResult kind_set(CUpti_ActivityKind kind, bool on)
{
	if (on && kind_refused(kind))
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (on && fault_excludes(kind))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	if (!record_size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	fault_switch(kind, on);
	kind_on[kind] = on;
	if (kind == CUPTI_ACTIVITY_KIND_KERNEL)
		drv->serialize_kernels(on);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	READY();
	return kind_set(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	READY();
	return kind_set(kind, false);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult rc;

	READY();
	rc = kind_set(kind, true);
	if (rc)
		return rc;
	if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
		drv->each_device(activity_put_device);
	if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		drv->each_context(activity_put_context);
	if (kind == CUPTI_ACTIVITY_KIND_STREAM)
		drv->each_stream(activity_put_stream);
	return CUPTI_SUCCESS;
}

/* SIM_UNIFIED_KINDS=N: counters of kinds above N return CUPTI_ERROR_INVALID_PARAMETER. */
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	const char *value = getenv("SIM_UNIFIED_KINDS");
	uint32_t kinds = value ? (uint32_t)atoi(value) : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT - 1;

	READY();
	if (drv->usable())
		return CUPTI_ERROR_NOT_INITIALIZED;
	for (uint32_t i = 0; i < count; i++)
		if (!config[i].kind || config[i].kind > kinds)
			return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = 0; i < count; i++)
		counter_on[config[i].kind] = config[i].enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	(void)context;
	return cuptiActivityEnable(kind);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	READY();
	if (cbid >= N_CBIDS || cupti_version() < 23)
		return CUPTI_ERROR_INVALID_PARAMETER;
	api_on[SIM_RUNTIME_API][cbid] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	READY();
	if (cbid >= N_CBIDS || cupti_version() < 23)
		return CUPTI_ERROR_INVALID_PARAMETER;
	api_on[SIM_DRIVER_API][cbid] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	READY();
	all_sync_records = enable;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	(void)enable;
	READY();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
					   CUpti_BuffersCallbackCompleteFunc complete)
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (replay_on())
		replay_to(request, complete);
	else
		buffer_callbacks(request, complete);
	return CUPTI_SUCCESS;
}

/* SIM_FLUSH_HANG=1: a flush never returns; 2: only a forced flush never returns. */
static void maybe_hang(uint32_t flag)
{
	const char *value = getenv("SIM_FLUSH_HANG");
	int hang = value ? atoi(value) : 0;

	if (hang == 1 || (hang == 2 && flag))
		for (;;)
			pause();
}

static uint32_t n_contexts;

static void count(const struct context *ctx)
{
	(void)ctx;
	n_contexts++;
}

/* SIM_FLUSH_US=N: a flush takes N us per context. */
static void take_time(void)
{
	const char *value = getenv("SIM_FLUSH_US");

	if (!value)
		return;
	n_contexts = 0;
	drv->each_context(count);
	usleep((useconds_t)atoi(value) * n_contexts);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	READY();
	if (cupti_in_callback() || buffer_in_client()) {
		fprintf(stderr, "sim: cuptiActivityFlushAll called inside a %s callback\n",
			buffer_in_client() ? "buffer" : "resource, synchronize or state");
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	maybe_hang(flag);
	take_time();
	drv->note(flag ? "forced flush" : "flush");
	if (replay_on())
		replay_wait();
	else
		buffer_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
	READY();
	buffer_period(ms);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
	(void)context, (void)stream;
	*dropped = buffer_take_dropped();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *at;

	if (replay_on())
		return replay_next(buffer, record);
	at = *record ? (uint8_t *)*record + record_size((*record)->kind) : buffer;
	if (!buffer || !valid || at >= buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!record_size(((CUpti_Activity *)at)->kind))
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)at;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *size, void *value)
{
	READY();
	if ((size_t)attr >= N_ATTRIBUTES || !size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER && cupti_version() < 21)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*size < attributes[attr].size)
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	memcpy(&attributes[attr].value, value, attributes[attr].size);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *size, void *value)
{
	READY();
	if ((size_t)attr >= N_ATTRIBUTES || !size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*size < attributes[attr].size)
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	*size = attributes[attr].size;
	memcpy(value, &attributes[attr].value, *size);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	READY();
	thread_id_type = type;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	*type = thread_id_type;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	READY();
	if ((unsigned int)kind >= N_EXTERNAL || external[kind].depth == EXTERNAL_DEPTH)
		return CUPTI_ERROR_INVALID_PARAMETER;
	external[kind].id[external[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *last)
{
	READY();
	if ((unsigned int)kind >= N_EXTERNAL)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!external[kind].depth)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].depth--;
	if (last)
		*last = external[kind].id[external[kind].depth];
	return CUPTI_SUCCESS;
}
