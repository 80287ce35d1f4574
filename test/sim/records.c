/*
 * Records.  A record is filled in the newest layout of the installed NVIDIA header, then cut or extended to its size in the simulated
 * release.  This works because releases only append fields.
 */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUTURE RELEASE(13, 1, 0)        /* from this release on, records are longer than in the installed headers */
#define FUTURE_BYTES 24

/* Size of each kind from the given release on, oldest release first. */
static const struct { uint32_t kind, from, size; } sizes[] = {
	{ CUPTI_ACTIVITY_KIND_KERNEL, 0, 176 }, { CUPTI_ACTIVITY_KIND_KERNEL, RELEASE(11, 8, 0), 200 },
	{ CUPTI_ACTIVITY_KIND_KERNEL, RELEASE(12, 0, 0), 208 }, { CUPTI_ACTIVITY_KIND_KERNEL, RELEASE(13, 0, 0), 216 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, 176 }, { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, RELEASE(11, 8, 0), 200 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, RELEASE(12, 0, 0), 208 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, RELEASE(13, 0, 0), 216 },
	{ CUPTI_ACTIVITY_KIND_CDP_KERNEL, 0, 144 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, 0, 88 }, { CUPTI_ACTIVITY_KIND_MEMCPY, RELEASE(12, 8, 0), 96 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY2, 0, 96 },
	{ CUPTI_ACTIVITY_KIND_MEMSET, 0, 88 },
	{ CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0, 40 }, { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, RELEASE(12, 8, 0), 56 },
	{ CUPTI_ACTIVITY_KIND_CUDA_EVENT, 0, 24 }, { CUPTI_ACTIVITY_KIND_CUDA_EVENT, RELEASE(12, 8, 0), 56 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, 0, 40 }, { CUPTI_ACTIVITY_KIND_OVERHEAD, RELEASE(12, 2, 0), 48 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, RELEASE(12, 4, 0), 56 },
	{ CUPTI_ACTIVITY_KIND_CONTEXT, 0, 16 }, { CUPTI_ACTIVITY_KIND_CONTEXT, RELEASE(12, 4, 0), 24 },
	{ CUPTI_ACTIVITY_KIND_CONTEXT, RELEASE(12, 5, 0), 32 },
	{ KIND_GREEN_CONTEXT, RELEASE(13, 2, 0), GREEN_SIZE },
	{ CUPTI_ACTIVITY_KIND_STREAM, 0, 24 },
	{ CUPTI_ACTIVITY_KIND_DEVICE, 0, 176 }, { CUPTI_ACTIVITY_KIND_DEVICE, RELEASE(12, 0, 0), 184 },
	{ CUPTI_ACTIVITY_KIND_JIT, RELEASE(11, 8, 0), 64 }, { CUPTI_ACTIVITY_KIND_JIT, RELEASE(12, 4, 0), 72 },
	{ CUPTI_ACTIVITY_KIND_MEMORY_POOL, 0, 72 }, { CUPTI_ACTIVITY_KIND_MEMORY_POOL, RELEASE(13, 0, 0), 80 },
	{ CUPTI_ACTIVITY_KIND_MEMORY2, 0, 120 }, { CUPTI_ACTIVITY_KIND_MEMORY2, RELEASE(12, 6, 0), 128 },
	{ CUPTI_ACTIVITY_KIND_RUNTIME, 0, 40 }, { CUPTI_ACTIVITY_KIND_DRIVER, 0, 40 },
	{ CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0, 24 },
	{ CUPTI_ACTIVITY_KIND_GRAPH_TRACE, RELEASE(11, 7, 0), 48 }, { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, RELEASE(12, 3, 0), 56 },
	{ CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 0, 64 },
	{ CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, RELEASE(12, 8, 0), 104 },
	{ UNKNOWN_KIND, 0, UNKNOWN_SIZE },
};

_Static_assert(sizeof(CUpti_ActivityKernel10) == 216, "the newest layout here is that of 13.0");
_Static_assert(offsetof(CUpti_ActivityKernel10, end) == offsetof(CUpti_ActivityMemcpy6, end) &&
	       offsetof(CUpti_ActivityKernel10, end) == offsetof(CUpti_ActivityMemset4, end) &&
	       offsetof(CUpti_ActivityKernel10, end) == offsetof(CUpti_ActivityMemcpyPtoP4, end),
	       "buffers.c finds the times of all GPU records in one place");

/* SIM_CUPTI_LAYOUT=N: records have the layout of version N, whatever cuptiGetVersion() reports. */
static uint32_t layout_release(void)
{
	static _Atomic uint32_t release;

	if (!release) {
		const char *value = getenv("SIM_CUPTI_LAYOUT");

		release = value && *value ? sim_release_of((uint32_t)strtoul(value, NULL, 0)) : sim_release();
	}
	return release;
}

size_t record_size(uint32_t kind)
{
	size_t size = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (sizes[i].kind == kind && layout_release() >= sizes[i].from)
			size = sizes[i].size;
	/* Adds fields that are unknown to clients. */
	return size && size != UNKNOWN_SIZE && layout_release() >= FUTURE ? size + FUTURE_BYTES : size;
}

size_t record_extend(void *record, size_t have, uint32_t kind)
{
	size_t want = record_size(kind);

	if (want > have)
		memset((char *)record + have, layout_release() >= FUTURE ? 0xab : 0, want - have);
	return want;
}

bool record_has_gpu_times(uint32_t kind)
{
	return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_MEMCPY || kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ||
	       kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

uint32_t record_context(const void *record)
{
	uint32_t kind = *(const uint32_t *)record;
	bool kernel = kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

	return *(const uint32_t *)((const char *)record + (kernel ? offsetof(CUpti_ActivityKernel10, contextId) :
							   offsetof(CUpti_ActivityMemcpy6, contextId)));
}

_Static_assert(offsetof(CUpti_ActivityMemcpy6, contextId) == offsetof(CUpti_ActivityMemset4, contextId) &&
	       offsetof(CUpti_ActivityMemcpy6, contextId) == offsetof(CUpti_ActivityMemcpyPtoP4, contextId),
	       "one place of all but kernels");

static size_t from_kernel(const struct op *op, uint32_t kind, void *out)
{
	CUpti_ActivityKernel10 r = {
		.kind = (CUpti_ActivityKind)kind, .registersPerThread = (uint16_t)op->registers,
		.start = op->start, .end = op->end, .completed = op->end,
		.deviceId = op->device, .contextId = op->context, .streamId = op->stream,
		.gridX = (int32_t)op->grid[0], .gridY = (int32_t)op->grid[1], .gridZ = (int32_t)op->grid[2],
		.blockX = (int32_t)op->block[0], .blockY = (int32_t)op->block[1], .blockZ = (int32_t)op->block[2],
		.staticSharedMemory = (int32_t)op->static_shared, .dynamicSharedMemory = (int32_t)op->dynamic_shared,
		.correlationId = op->corr, .gridId = (int64_t)op->seq, .name = op->name,
		.launchType = op->cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE :
						CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR,
		.graphNodeId = op->node, .graphId = op->graph,
		.channelID = op->stream, .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
		.clusterX = op->cluster[0], .clusterY = op->cluster[1], .clusterZ = op->cluster[2],
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_memcpy(const struct op *op, void *out)
{
	CUpti_ActivityMemcpy6 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY, .copyKind = op->copy_kind, .srcKind = op->src_kind,
		.dstKind = op->dst_kind, .flags = op->async, .bytes = op->bytes, .start = op->start, .end = op->end,
		.deviceId = op->device, .contextId = op->context, .streamId = op->stream, .correlationId = op->corr,
		.graphNodeId = op->node, .graphId = op->graph, .channelID = op->stream,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY, .copyCount = 1,
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_peer(const struct op *op, void *out)
{
	CUpti_ActivityMemcpyPtoP4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2, .copyKind = op->copy_kind, .srcKind = op->src_kind,
		.dstKind = op->dst_kind, .flags = op->async, .bytes = op->bytes, .start = op->start, .end = op->end,
		.deviceId = op->device, .contextId = op->context, .streamId = op->stream, .srcDeviceId = op->device,
		.srcContextId = op->context, .dstDeviceId = op->peer_device, .dstContextId = op->peer_context,
		.correlationId = op->corr, .graphNodeId = op->node, .graphId = op->graph, .channelID = op->stream,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_memset(const struct op *op, void *out)
{
	CUpti_ActivityMemset4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET, .value = op->value, .bytes = op->bytes, .start = op->start,
		.end = op->end, .deviceId = op->device, .contextId = op->context, .streamId = op->stream,
		.correlationId = op->corr, .flags = op->async, .memoryKind = op->dst_kind,
		.graphNodeId = op->node, .graphId = op->graph, .channelID = op->stream,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_sync(const struct op *op, void *out)
{
	CUpti_ActivitySynchronization2 r = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, .type = (CUpti_ActivitySynchronizationType)op->value,
		.start = op->start, .end = op->end, .correlationId = op->corr, .contextId = op->context,
		.streamId = op->stream, .cudaEventId = op->event, .returnValue = op->result,
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_overhead(const struct op *op, void *out)
{
	CUpti_ActivityOverhead3 r = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD, .overheadKind = (CUpti_ActivityOverheadKind)op->value,
		.objectKind = CUPTI_ACTIVITY_OBJECT_CONTEXT, .start = op->start, .end = op->end,
		.correlationId = op->corr,
	};

	r.objectId.dcs.deviceId = op->device;
	r.objectId.dcs.contextId = op->context;
	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_graph(const struct op *op, void *out)
{
	CUpti_ActivityGraphTrace2 r = {
		.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE, .correlationId = op->corr, .start = op->start, .end = op->end,
		.deviceId = op->device, .graphId = op->graph, .contextId = op->context, .streamId = op->stream,
		.endDeviceId = op->device, .endContextId = op->context,
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_memory(const struct op *op, void *out)
{
	CUpti_ActivityMemory4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = (CUpti_ActivityMemoryOperationType)op->value,
		.memoryKind = (CUpti_ActivityMemoryKind)op->src_kind, .correlationId = op->corr,
		.address = op->address, .bytes = op->bytes, .timestamp = op->start, .processId = (uint32_t)getpid(),
		.deviceId = op->device, .contextId = op->context, .streamId = op->stream, .isAsync = op->async,
	};

	if (op->pool) {
		r.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
		r.memoryPoolConfig.address = op->pool;
		r.memoryPoolConfig.pool.size = op->pool_size;
		r.memoryPoolConfig.utilizedSize = op->pool_used;
	}

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_pool(const struct op *op, void *out)
{
	CUpti_ActivityMemoryPool3 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
		.memoryPoolOperationType = (CUpti_ActivityMemoryPoolOperationType)op->value,
		.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL, .correlationId = op->corr,
		.processId = (uint32_t)getpid(), .deviceId = op->device, .address = op->pool, .size = op->pool_size,
		.timestamp = op->start, .utilizedSize = op->pool_used,
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static size_t from_jit(const struct op *op, void *out)
{
	CUpti_ActivityJit2 r = {
		.kind = CUPTI_ACTIVITY_KIND_JIT, .jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN,
		.jitOperationType = (CUpti_ActivityJitOperationType)op->value, .deviceId = op->device, .start = op->start,
		.end = op->end, .correlationId = op->corr, .jitOperationCorrelationId = op->node, .cacheSize = op->bytes,
		.cachePath = op->name, .processId = (uint32_t)getpid(), .threadId = (uint32_t)syscall(SYS_gettid),
	};

	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

/* Fields that the documentation calls ignored contain garbage. */
static size_t from_unified(const struct op *op, void *out)
{
	CUpti_ActivityUnifiedMemoryCounter3 r = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)op->value, .value = op->bytes, .start = op->start,
		.end = op->end ? op->end : op->start - 1, .address = op->address, .srcId = op->device, .dstId = op->peer_device,
		.streamId = 0xabababab, .processId = (uint32_t)getpid(), .flags = op->copy_kind, .pad = 0xcdcdcdcd,
	};

	if (op->value == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING)
		r.processors[0] = op->device;
	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

/* SIM_CLOCK_JITTER_NS=N: device times are off by up to N, like CUPTI's interpolation between two clocks. */
static void skew(struct op *op)
{
	static _Atomic int64_t most = -1;
	int64_t by;

	if (most < 0) {
		const char *value = getenv("SIM_CLOCK_JITTER_NS");

		most = value ? atoll(value) : 0;
	}
	if (!most)
		return;
	by = (int64_t)(op->seq * 2654435761u % (uint64_t)(2 * most + 1)) - most;
	op->start += (uint64_t)by;
	op->end += (uint64_t)by;
}

/* out: 512 bytes.  Returns the record's size in the simulated release. */
size_t record_from_op(const struct op *op, uint32_t kind, void *out)
{
	struct op shown = *op;
	size_t have;

	if (record_has_gpu_times(kind))
		skew(&shown);
	if (op->backward)
		shown.end = shown.start - 1000;
	if (op->zeroed)
		shown.start = shown.end = 0;
	switch (op->type) {
	case OP_KERNEL:
		have = from_kernel(&shown, kind, out);
		break;
	case OP_MEMCPY:
		have = kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ? from_peer(&shown, out) : from_memcpy(&shown, out);
		break;
	case OP_MEMSET:
		have = from_memset(&shown, out);
		break;
	case OP_SYNC:
		have = from_sync(&shown, out);
		break;
	case OP_OVERHEAD:
		have = from_overhead(&shown, out);
		break;
	case OP_GRAPH:
		have = from_graph(&shown, out);
		break;
	case OP_UNIFIED:
		have = from_unified(&shown, out);
		break;
	case OP_JIT:
		have = from_jit(&shown, out);
		break;
	case OP_POOL:
		have = from_pool(&shown, out);
		break;
	default:
		have = from_memory(&shown, out);
		break;
	}
	return record_extend(out, have, kind);
}
