/*
 * Offsets of fields in activity records, by CUPTI version.  The loaded library fills in the newest layout that it knows; new versions only
 * append fields.  Records are read by offset; no NVIDIA struct is named.
 */
#ifndef INJECT_CUPTI_CUPTI_LAYOUT_H
#define INJECT_CUPTI_CUPTI_LAYOUT_H

#include <stdint.h>
#include <string.h>

/* Offsets that are the same from CUPTI 11.0 to 13.x. */
enum {
	KERNEL_REGISTERS = 6, KERNEL_START = 16, KERNEL_END = 24, KERNEL_DEVICE = 40, KERNEL_CONTEXT = 44, KERNEL_STREAM = 48,
	KERNEL_GRID = 52, KERNEL_BLOCK = 64, KERNEL_STATIC_SHARED = 76, KERNEL_DYNAMIC_SHARED = 80, KERNEL_LOCAL = 84,
	KERNEL_CORR = 92, KERNEL_NAME = 104, KERNEL_LAUNCH_TYPE = 136, KERNEL_SHARED_EXECUTED = 140,

	MEMCPY_KIND = 4, MEMCPY_SRC_KIND = 5, MEMCPY_DST_KIND = 6, MEMCPY_FLAGS = 7, MEMCPY_BYTES = 8, MEMCPY_START = 16,
	MEMCPY_END = 24, MEMCPY_DEVICE = 32, MEMCPY_CONTEXT = 36, MEMCPY_STREAM = 40, MEMCPY_CORR = 44,

	/* a peer copy begins like other copies */
	PEER_SRC_DEVICE = 44, PEER_DST_DEVICE = 52, PEER_CORR = 60,

	MEMSET_VALUE = 4, MEMSET_BYTES = 8, MEMSET_START = 16, MEMSET_END = 24, MEMSET_DEVICE = 32, MEMSET_CONTEXT = 36,
	MEMSET_STREAM = 40, MEMSET_CORR = 44, MEMSET_FLAGS = 48, MEMSET_MEM_KIND = 50,

	SYNC_TYPE = 4, SYNC_START = 8, SYNC_END = 16, SYNC_CORR = 24, SYNC_CONTEXT = 28, SYNC_STREAM = 32, SYNC_EVENT = 36,

	/* words of the object id: process or device, thread or context, stream */
	OVERHEAD_KIND = 4, OVERHEAD_OBJECT_KIND = 8, OVERHEAD_OBJECT = 12, OVERHEAD_START = 24, OVERHEAD_END = 32,

	DEVICE_BANDWIDTH = 8, DEVICE_MEMORY = 16, DEVICE_L2 = 28, DEVICE_WARP = 32, DEVICE_CLOCK = 36, DEVICE_SM_COUNT = 44,
	DEVICE_MAX_WARPS = 52, DEVICE_MAX_BLOCKS = 56, DEVICE_MAX_SHARED_SM = 60, DEVICE_MAX_REGISTERS = 64,
	DEVICE_MAX_REGISTERS_BLOCK = 68, DEVICE_MAX_SHARED_BLOCK = 72, DEVICE_MAX_THREADS = 76,
	DEVICE_CC_MAJOR = 104, DEVICE_CC_MINOR = 108, DEVICE_ID = 112, DEVICE_UUID = 120, DEVICE_NAME = 136,

	/* from 11.6 on: records of DEVICE_WITH_MIG bytes and more */
	DEVICE_IS_VISIBLE = 144, DEVICE_IS_MIG = 145, DEVICE_GPU_INSTANCE = 152, DEVICE_COMPUTE_INSTANCE = 156,
	DEVICE_MIG_UUID = 160, DEVICE_WITH_MIG = 176,

	CONTEXT_ID = 4, CONTEXT_DEVICE = 8, CONTEXT_API = 12, CONTEXT_NULL_STREAM = 14,

	MEMORY_OPERATION = 4, MEMORY_KIND = 8, MEMORY_CORR = 12, MEMORY_ADDRESS = 16, MEMORY_BYTES = 24,
	MEMORY_TIME = 32, MEMORY_DEVICE = 52, MEMORY_CONTEXT = 56, MEMORY_STREAM = 60, MEMORY_NAME = 64,
	MEMORY_IS_ASYNC = 72, MEMORY_POOL_TYPE = 80, MEMORY_POOL = 88, MEMORY_POOL_SIZE = 104,

	POOL_OPERATION = 4, POOL_TYPE = 8, POOL_CORR = 12, POOL_DEVICE = 20, POOL_KEEP = 24, POOL_ADDRESS = 32,
	POOL_SIZE = 40, POOL_THRESHOLD = 48, POOL_TIME = 56,

	JIT_ENTRY = 4, JIT_OPERATION = 8, JIT_DEVICE = 12, JIT_START = 16, JIT_END = 24, JIT_CORR = 32, JIT_JOB = 40,
	JIT_CACHE_SIZE = 48, JIT_CACHE_PATH = 56,

	UNIFIED_KIND = 4, UNIFIED_VALUE = 8, UNIFIED_START = 16, UNIFIED_END = 24, UNIFIED_ADDRESS = 32, UNIFIED_SOURCE = 40,
	UNIFIED_TARGET = 44, UNIFIED_FLAGS = 56,

	GRAPH_CORR = 4, GRAPH_START = 8, GRAPH_END = 16, GRAPH_DEVICE = 24, GRAPH_ID = 28, GRAPH_CONTEXT = 32, GRAPH_STREAM = 36,

	GREEN_CONTEXT_ID = 4, GREEN_DEVICE = 12,

	STREAM_CONTEXT = 4, STREAM_ID = 8, STREAM_PRIORITY = 12, STREAM_FLAGS = 16,
};

/*
 * What differs between versions: a record's size and the offsets of appended fields; 0: not in this version.  A newer CUPTI may write
 * longer records, never shorter ones.
 */
struct kernel_layout   { uint32_t since; uint16_t size, node, graph, cluster; };
struct memcpy_layout   { uint32_t since; uint16_t size, node, graph, copies; };
struct memset_layout   { uint32_t since; uint16_t size, node, graph; };
struct sync_layout     { uint32_t since; uint16_t size, result; };
struct overhead_layout { uint32_t since; uint16_t size, corr, data; };
struct graph_layout    { uint32_t since; uint16_t size, end_device; };
struct memory_layout   { uint32_t since; uint16_t size, used; };
struct jit_layout      { uint32_t since; uint16_t size, tid; };
struct unified_layout  { uint32_t since; uint16_t size, processors; };
struct plain_layout    { uint32_t since; uint16_t size, owned_name; };

struct cupti_layouts {
	struct kernel_layout kernel;
	struct memcpy_layout memcpy, memcpy2;
	struct memset_layout memset;
	struct sync_layout sync;
	struct overhead_layout overhead;
	struct graph_layout graph;
	struct memory_layout memory, pool;
	struct jit_layout jit;
	struct unified_layout unified;
	struct plain_layout device, context, stream, green;
	struct plain_layout cdp, event, device_graph;   /* known kinds without rows */
};

/* Fills in the layouts for a cuptiGetVersion() number.  0, or -1: older than CUDA 11.0, not supported. */
int cupti_layouts_choose(struct cupti_layouts *l, uint32_t version);

/* Smallest size of a record of this kind in bytes; 0: unknown kind. */
uint32_t cupti_layouts_size(const struct cupti_layouts *l, uint32_t kind);

/* Fields of a record at any alignment. */
static inline uint64_t at64(const uint8_t *record, unsigned offset)
{
	uint64_t v;

	memcpy(&v, record + offset, sizeof v);
	return v;
}

static inline uint32_t at32(const uint8_t *record, unsigned offset)
{
	uint32_t v;

	memcpy(&v, record + offset, sizeof v);
	return v;
}

static inline uint16_t at16(const uint8_t *record, unsigned offset)
{
	uint16_t v;

	memcpy(&v, record + offset, sizeof v);
	return v;
}

/* Fields that some versions lack; 0 there. */
static inline uint64_t maybe64(const uint8_t *record, unsigned offset)
{
	return offset ? at64(record, offset) : 0;
}

static inline uint32_t maybe32(const uint8_t *record, unsigned offset)
{
	return offset ? at32(record, offset) : 0;
}

#endif
