/* CUPTI's records of devices, contexts and streams. */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <stdlib.h>
#include <string.h>

void activity_put_device(const struct device *dev)
{
	CUpti_ActivityDevice5 r = {
		.kind = CUPTI_ACTIVITY_KIND_DEVICE,
		.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS,
		.globalMemoryBandwidth = 936096000, .globalMemorySize = (uint64_t)24576 << 20,
		.constantMemorySize = 65536, .l2CacheSize = 6291456, .numThreadsPerWarp = 32,
		.coreClockRate = 1695000, .numMemcpyEngines = 2, .numMultiprocessors = 84, .maxIPC = 4,
		.maxWarpsPerMultiprocessor = 48, .maxBlocksPerMultiprocessor = 16,
		.maxSharedMemoryPerMultiprocessor = 102400, .maxRegistersPerMultiprocessor = 65536,
		.maxRegistersPerBlock = 65536, .maxSharedMemoryPerBlock = 49152, .maxThreadsPerBlock = 1024,
		.maxBlockDimX = 1024, .maxBlockDimY = 1024, .maxBlockDimZ = 64, .maxGridDimX = 2147483647,
		.maxGridDimY = 65535, .maxGridDimZ = 65535, .computeCapabilityMajor = 8, .computeCapabilityMinor = 6,
		.id = (uint32_t)dev->ordinal, .name = strdup(SIM_DEVICE_NAME) /* freed by the client */, .isCudaVisible = 1,
	};

	memcpy(&r.uuid, dev->uuid, sizeof(r.uuid));
	if (getenv("SIM_MIG")) {
		r.isMigEnabled = 1;
		r.gpuInstanceId = 7 + (uint32_t)dev->ordinal;
		r.computeInstanceId = 1;
		memcpy(&r.migUuid, dev->uuid, sizeof(r.migUuid));
		r.migUuid.bytes[0] ^= 0x7f;
	}
	activity_put_later(&r, sizeof(r));
}

/* Record of a green context, in the layout of 13.2, the first release that has it. */
static void put_green(const struct context *ctx)
{
	uint8_t record[GREEN_SIZE] = { 0 };
	const uint32_t head[] = { KIND_GREEN_CONTEXT, ctx->id, ctx->parent->id, (uint32_t)ctx->dev->ordinal, 4 };

	memcpy(record, head, sizeof(head));
	record[sizeof(head)] = 8;       /* multiprocessors */
	activity_put_later(record, sizeof(record));
}

void activity_put_context(const struct context *ctx)
{
	CUpti_ActivityContext3 r = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT, .contextId = ctx->id, .deviceId = (uint32_t)ctx->dev->ordinal,
		.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA, .nullStreamId = (uint16_t)ctx->null.id,
		.numMultiprocessors = ctx->parent ? 8 : 84, .isGreenContext = ctx->parent != NULL,
		.parentContextId = ctx->parent ? ctx->parent->id : 0,
	};

	activity_put_later(&r, sizeof(r));
}

void activity_put_stream(const struct stream *s)
{
	CUpti_ActivityStream r = {
		.kind = CUPTI_ACTIVITY_KIND_STREAM, .contextId = s->ctx->id, .streamId = s->id,
		.priority = (uint32_t)s->priority,
		.flag = s == &s->ctx->null ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL :
			s->flags & CU_STREAM_NON_BLOCKING ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING :
							    CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
	};

	activity_put_later(&r, sizeof(r));
}

void activity_device(const struct device *dev)
{
	if (kind_on[CUPTI_ACTIVITY_KIND_DEVICE] && !replay_on())
		activity_put_device(dev);
}

uint32_t activity_context(const struct context *ctx)
{
	bool green = ctx->parent && sim_release() >= RELEASE(13, 2, 0);

	if (green && kind_on[KIND_GREEN_CONTEXT] && !replay_on())
		put_green(ctx);
	if (!green && kind_on[CUPTI_ACTIVITY_KIND_CONTEXT] && !replay_on())
		activity_put_context(ctx);
	return green ? UINT32_MAX : ctx->null.id;
}

void activity_stream(const struct stream *s)
{
	if (kind_on[CUPTI_ACTIVITY_KIND_STREAM] && !replay_on())
		activity_put_stream(s);
}
