/*
 * Records.  Each is filled in the newest layout that NVIDIA's header here knows and cut (or zero-extended) to the size
 * that the played version has: fields were only ever appended.
 */
#include "test/sim/tool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUTURE 130400                   /* 13.4: kernels, contexts and devices are longer, by how much is not known here */
#define FUTURE_BYTES 24

/* Size from each CUPTI version on, oldest first; 18 is toolkit 11.8. */
static const struct { uint32_t kind, from, size; } sizes[] = {
	{ CUPTI_ACTIVITY_KIND_KERNEL, 0, 176 }, { CUPTI_ACTIVITY_KIND_KERNEL, 18, 200 },
	{ CUPTI_ACTIVITY_KIND_KERNEL, 19, 208 }, { CUPTI_ACTIVITY_KIND_KERNEL, 130000, 216 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, 176 }, { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 18, 200 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 19, 208 }, { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130000, 216 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, 0, 88 }, { CUPTI_ACTIVITY_KIND_MEMCPY, 26, 96 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY2, 0, 96 },
	{ CUPTI_ACTIVITY_KIND_MEMSET, 0, 88 },
	{ CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0, 40 }, { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 26, 56 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, 0, 40 }, { CUPTI_ACTIVITY_KIND_OVERHEAD, 20, 48 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, 22, 56 },
	{ CUPTI_ACTIVITY_KIND_CONTEXT, 0, 16 }, { CUPTI_ACTIVITY_KIND_CONTEXT, 22, 24 },
	{ CUPTI_ACTIVITY_KIND_CONTEXT, 23, 32 },
	{ CUPTI_ACTIVITY_KIND_STREAM, 0, 24 },
	{ CUPTI_ACTIVITY_KIND_DEVICE, 0, 176 }, { CUPTI_ACTIVITY_KIND_DEVICE, 19, 184 },
	{ CUPTI_ACTIVITY_KIND_JIT, 18, 64 }, { CUPTI_ACTIVITY_KIND_JIT, 22, 72 },
	{ CUPTI_ACTIVITY_KIND_MEMORY_POOL, 0, 72 }, { CUPTI_ACTIVITY_KIND_MEMORY_POOL, 130000, 80 },
	{ CUPTI_ACTIVITY_KIND_MEMORY2, 0, 120 }, { CUPTI_ACTIVITY_KIND_MEMORY2, 24, 128 },
	{ CUPTI_ACTIVITY_KIND_RUNTIME, 0, 40 }, { CUPTI_ACTIVITY_KIND_DRIVER, 0, 40 },
	{ CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0, 24 },
	{ CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 17, 48 }, { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 21, 56 },
	{ CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 0, 64 }, { CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 26, 104 },
	{ UNKNOWN_KIND, 0, UNKNOWN_SIZE },
};

_Static_assert(sizeof(CUpti_ActivityKernel10) == 216, "the newest layout here is that of 13.0");
_Static_assert(offsetof(CUpti_ActivityKernel10, end) == offsetof(CUpti_ActivityMemcpy6, end) &&
	       offsetof(CUpti_ActivityKernel10, end) == offsetof(CUpti_ActivityMemset4, end) &&
	       offsetof(CUpti_ActivityKernel10, end) == offsetof(CUpti_ActivityMemcpyPtoP4, end),
	       "buffers.c finds the times of all GPU records in one place");

/* SIM_CUPTI_LAYOUT=N: a library that lies; its records are those of another version than it says. */
static uint32_t layout_version(void)
{
	static _Atomic uint32_t version;

	if (!version) {
		const char *value = getenv("SIM_CUPTI_LAYOUT");

		version = value && *value ? (uint32_t)strtoul(value, NULL, 0) : cupti_version();
	}
	return version;
}

size_t record_size(uint32_t kind)
{
	size_t size = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (sizes[i].kind == kind && layout_version() >= sizes[i].from)
			size = sizes[i].size;
	/* Fields that nobody here knows of. */
	return size && size != UNKNOWN_SIZE && layout_version() >= FUTURE ? size + FUTURE_BYTES : size;
}

bool record_has_gpu_times(uint32_t kind)
{
	return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_MEMCPY || kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ||
	       kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

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

/* What the documentation calls ignored is rubbish. */
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

/* SIM_CLOCK_JITTER_NS=N: device times come up to N off, as CUPTI's interpolation between two clocks makes them. */
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

/* out has room for 512 bytes.  The size in the played version. */
size_t record_from_op(const struct op *op, uint32_t kind, void *out)
{
	struct op shown = *op;
	size_t have, want = record_size(kind);

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
	if (want > have)
		memset((char *)out + have, layout_version() >= FUTURE ? 0xab : 0, want - have);
	return want;
}
