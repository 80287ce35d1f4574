#include "inject/cupti/cupti_rows.h"

#include <stdlib.h>

#include "inject/capture/windows.h"
#include "inject/client/cupti_client.h"
#include "inject/core/intern.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_unified.h"

void cupti_pass_init(struct cupti_pass *p, struct stream *s)
{
	p->s = s;
	if (s)
		windows_gate_now();     /* follow orders that no call has seen; does not wake CUPTI, whose lock is held here */
	p->unknown = p->zero_times = p->device_kernels = 0;
	p->gpu = p->given = false;
	for (size_t i = 0; i < CUPTI_KERNELS_CACHED; i++)
		p->kernels[i].config.id = 0;
}

struct row_times {
	int64_t start, duration;
};

/* Time span of a record.  False: the row is not kept.  If a time is missing or the end is before the start: 0, 0, counted. */
static bool span_of(struct cupti_pass *p, const uint8_t *r, uint32_t corr, unsigned start, unsigned end, struct row_times *span)
{
	int64_t t0 = (int64_t)at64(r, start);
	int64_t t1 = (int64_t)at64(r, end);

	if (unlikely(!windows_keep(corr, t0)))
		return false;
	if (unlikely(t0 <= 0 || t1 < t0)) {
		p->zero_times++;
		*span = (struct row_times){ 0, 0 };
	} else {
		*span = (struct row_times){ t0, t1 - t0 };
	}
	return true;
}

static const struct cupti_cached_kernel *cached_kernel(struct cupti_pass *p, const uint8_t *r)
{
	const struct kernel_layout *l = &tracer.layout.kernel;
	const uint8_t *cluster = l->cluster ? r + l->cluster : NULL;
	uint64_t name = at64(r, KERNEL_NAME);
	struct config_row c = {
		.grid_x = at32(r, KERNEL_GRID), .grid_y = at32(r, KERNEL_GRID + 4), .grid_z = at32(r, KERNEL_GRID + 8),
		.block_x = at32(r, KERNEL_BLOCK), .block_y = at32(r, KERNEL_BLOCK + 4), .block_z = at32(r, KERNEL_BLOCK + 8),
		.static_shared = at32(r, KERNEL_STATIC_SHARED),
		.dynamic_shared = at32(r, KERNEL_DYNAMIC_SHARED),
		.registers = at16(r, KERNEL_REGISTERS),
		.local = at32(r, KERNEL_LOCAL),
		.cluster_x = cluster ? at32(cluster, 0) : 0,
		.cluster_y = cluster ? at32(cluster, 4) : 0,
		.cluster_z = cluster ? at32(cluster, 8) : 0,
		.launch_type = r[KERNEL_LAUNCH_TYPE],
		.shared_executed = at32(r, KERNEL_SHARED_EXECUTED),
	};
	uint64_t hash = (name ^ (uint64_t)c.grid_x << 40 ^ (uint64_t)c.block_x << 20) * 0x9e3779b97f4a7c15ull;
	struct cupti_cached_kernel *m = &p->kernels[hash >> 57];

	_Static_assert(CUPTI_KERNELS_CACHED == 1u << (64 - 57), "the hash's highest bits number the places");
	if (likely(m->config.id && m->name == name && memcmp(&m->config.grid_x, &c.grid_x, sizeof c - sizeof c.id) == 0))
		return m;
	m->name = name;
	m->name_id = intern_text(p->s, (const char *)(uintptr_t)name);
	m->config = c;
	intern_config(p->s, &m->config);
	return m;
}

static void kernel(struct cupti_pass *p, const uint8_t *r)
{
	const struct kernel_layout *l = &tracer.layout.kernel;
	const struct cupti_cached_kernel *m;
	struct kernel_row *row;
	struct row_times span;

	if (!span_of(p, r, at32(r, KERNEL_CORR), KERNEL_START, KERNEL_END, &span))
		return;
	m = cached_kernel(p, r);
	row = stream_reserve(p->s, ROW_kernel, sizeof *row);
	if (!row)
		return;
	*row = (struct kernel_row){
		.start = span.start,
		.duration = span.duration,
		.graph_node = maybe64(r, l->node),
		.corr = at32(r, KERNEL_CORR),
		.name = m->name_id,
		.device = at32(r, KERNEL_DEVICE),
		.context = at32(r, KERNEL_CONTEXT),
		.stream = at32(r, KERNEL_STREAM),
		.config = m->config.id,
		.graph = maybe32(r, l->graph),
	};
	stream_publish(p->s, row);
	p->gpu = true;
}

static void copy(struct cupti_pass *p, const uint8_t *r, bool peer)
{
	const struct memcpy_layout *l = peer ? &tracer.layout.memcpy2 : &tracer.layout.memcpy;
	struct memcpy_row *row;
	struct row_times span;

	if (!span_of(p, r, at32(r, peer ? PEER_CORR : MEMCPY_CORR), MEMCPY_START, MEMCPY_END, &span))
		return;
	row = stream_reserve(p->s, ROW_memcpy, sizeof *row);
	if (!row)
		return;
	*row = (struct memcpy_row){
		.start = span.start,
		.duration = span.duration,
		.bytes = at64(r, MEMCPY_BYTES),
		.graph_node = maybe64(r, l->node),
		.corr = at32(r, peer ? PEER_CORR : MEMCPY_CORR),
		.device = at32(r, MEMCPY_DEVICE),
		.context = at32(r, MEMCPY_CONTEXT),
		.stream = at32(r, MEMCPY_STREAM),
		.kind = r[MEMCPY_KIND],
		.src_kind = r[MEMCPY_SRC_KIND],
		.dst_kind = r[MEMCPY_DST_KIND],
		.flags = (r[MEMCPY_FLAGS] & 1 ? MEMCPY_ASYNC : 0) | (peer ? MEMCPY_PEER : 0),
		.src_device = peer ? at32(r, PEER_SRC_DEVICE) : 0,
		.dst_device = peer ? at32(r, PEER_DST_DEVICE) : 0,
		.graph = maybe32(r, l->graph),
		.copies = (uint32_t)maybe64(r, l->copies),
	};
	stream_publish(p->s, row);
	p->gpu = true;
}

static void set(struct cupti_pass *p, const uint8_t *r)
{
	const struct memset_layout *l = &tracer.layout.memset;
	struct memset_row *row;
	struct row_times span;

	if (!span_of(p, r, at32(r, MEMSET_CORR), MEMSET_START, MEMSET_END, &span))
		return;
	row = stream_reserve(p->s, ROW_memset, sizeof *row);
	if (!row)
		return;
	*row = (struct memset_row){
		.start = span.start,
		.duration = span.duration,
		.bytes = at64(r, MEMSET_BYTES),
		.graph_node = maybe64(r, l->node),
		.corr = at32(r, MEMSET_CORR),
		.device = at32(r, MEMSET_DEVICE),
		.context = at32(r, MEMSET_CONTEXT),
		.stream = at32(r, MEMSET_STREAM),
		.value = at32(r, MEMSET_VALUE),
		.mem_kind = at16(r, MEMSET_MEM_KIND),
		.flags = at16(r, MEMSET_FLAGS) & 1 ? MEMCPY_ASYNC : 0,
		.graph = maybe32(r, l->graph),
	};
	stream_publish(p->s, row);
	p->gpu = true;
}

static void sync_row(struct cupti_pass *p, const uint8_t *r)
{
	const struct sync_layout *l = &tracer.layout.sync;
	struct sync_row *row;
	struct row_times span;

	if (!span_of(p, r, at32(r, SYNC_CORR), SYNC_START, SYNC_END, &span))
		return;
	row = stream_reserve(p->s, ROW_sync, sizeof *row);
	if (!row)
		return;
	*row = (struct sync_row){
		.start = span.start,
		.duration = span.duration,
		.corr = at32(r, SYNC_CORR),
		.context = at32(r, SYNC_CONTEXT),
		.stream = at32(r, SYNC_STREAM),
		.event = at32(r, SYNC_EVENT),
		.type = at32(r, SYNC_TYPE),
		.result = (int32_t)maybe32(r, l->result),
	};
	stream_publish(p->s, row);
}

/* Offset of the object's id in the record's union of ids. */
static unsigned object_offset(uint32_t object_kind)
{
	switch (object_kind) {
	case OBJECT_THREAD:
	case OBJECT_CONTEXT:
		return OVERHEAD_OBJECT + 4;
	case OBJECT_STREAM:
		return OVERHEAD_OBJECT + 8;
	default:
		return OVERHEAD_OBJECT;
	}
}

static void overhead(struct cupti_pass *p, const uint8_t *r)
{
	const struct overhead_layout *l = &tracer.layout.overhead;
	uint32_t object_kind = at32(r, OVERHEAD_OBJECT_KIND);
	struct overhead_row *row = NULL;
	struct row_times span;

	if (span_of(p, r, maybe32(r, l->corr), OVERHEAD_START, OVERHEAD_END, &span))
		row = stream_reserve(p->s, ROW_overhead, sizeof *row);
	if (row) {
		*row = (struct overhead_row){
			.start = span.start,
			.duration = span.duration,
			.kind = at32(r, OVERHEAD_KIND),
			.object_kind = object_kind,
			.object = at32(r, object_offset(object_kind)),
			.corr = maybe32(r, l->corr),
		};
		stream_publish(p->s, row);
	}
	if (!p->given)
		cupti_record_release(r, l->size);
}

static void graph(struct cupti_pass *p, const uint8_t *r)
{
	const struct graph_layout *l = &tracer.layout.graph;
	struct graph_row *row;
	struct row_times span;

	if (!span_of(p, r, at32(r, GRAPH_CORR), GRAPH_START, GRAPH_END, &span))
		return;
	row = stream_reserve(p->s, ROW_graph, sizeof *row);
	if (!row)
		return;
	*row = (struct graph_row){
		.start = span.start,
		.duration = span.duration,
		.corr = at32(r, GRAPH_CORR),
		.device = at32(r, GRAPH_DEVICE),
		.context = at32(r, GRAPH_CONTEXT),
		.stream = at32(r, GRAPH_STREAM),
		.graph = at32(r, GRAPH_ID),
		.end_device = at32(r, l->end_device ? l->end_device : GRAPH_DEVICE),
	};
	stream_publish(p->s, row);
	p->gpu = true;
}

/* As span_of(), for records with one time.  A missing time becomes 0: the row is kept, but has no place in time order. */
static bool time_of(struct cupti_pass *p, const uint8_t *r, uint32_t corr, unsigned offset, int64_t *when)
{
	*when = (int64_t)at64(r, offset);
	if (unlikely(!windows_keep(corr, *when)))
		return false;
	if (unlikely(*when <= 0)) {
		p->zero_times++;
		*when = 0;
	}
	return true;
}

static void memory(struct cupti_pass *p, const uint8_t *r)
{
	const struct memory_layout *l = &tracer.layout.memory;
	uint32_t type = at32(r, MEMORY_POOL_TYPE), name;
	struct memory_row *row;
	int64_t when;

	if (!time_of(p, r, at32(r, MEMORY_CORR), MEMORY_TIME, &when))
		return;
	name = intern_text(p->s, (const char *)(uintptr_t)at64(r, MEMORY_NAME));
	row = stream_reserve(p->s, ROW_memory, sizeof *row);
	if (!row)
		return;
	*row = (struct memory_row){
		.start = when,
		.address = at64(r, MEMORY_ADDRESS),
		.bytes = at64(r, MEMORY_BYTES),
		.pool = type ? at64(r, MEMORY_POOL) : 0,
		.pool_size = type == POOL_LOCAL ? at64(r, MEMORY_POOL_SIZE) : 0,
		.pool_used = type == POOL_LOCAL ? maybe64(r, l->used) : 0,
		.corr = at32(r, MEMORY_CORR),
		.device = at32(r, MEMORY_DEVICE),
		.context = at32(r, MEMORY_CONTEXT),
		.stream = at32(r, MEMORY_STREAM),
		.operation = at32(r, MEMORY_OPERATION),
		.mem_kind = at32(r, MEMORY_KIND),
		.name = name,
		.flags = (at32(r, MEMORY_IS_ASYNC) ? MEMORY_ASYNC : 0) | (type == POOL_IMPORTED ? MEMORY_IMPORTED : 0),
	};
	stream_publish(p->s, row);
}

static void memory_pool(struct cupti_pass *p, const uint8_t *r)
{
	const struct memory_layout *l = &tracer.layout.pool;
	struct mempool_row *row;
	int64_t when;

	if (!time_of(p, r, at32(r, POOL_CORR), POOL_TIME, &when))
		return;
	row = stream_reserve(p->s, ROW_mempool, sizeof *row);
	if (!row)
		return;
	*row = (struct mempool_row){
		.start = when,
		.address = at64(r, POOL_ADDRESS),
		.size = at64(r, POOL_SIZE),
		.used = maybe64(r, l->used),
		.threshold = at64(r, POOL_THRESHOLD),
		.keep = at64(r, POOL_KEEP),
		.corr = at32(r, POOL_CORR),
		.device = at32(r, POOL_DEVICE),
		.operation = at32(r, POOL_OPERATION),
		.type = at32(r, POOL_TYPE),
	};
	stream_publish(p->s, row);
}

static void jit(struct cupti_pass *p, const uint8_t *r)
{
	const struct jit_layout *l = &tracer.layout.jit;
	struct jit_row *row;
	struct row_times span;
	uint32_t path;

	if (!span_of(p, r, at32(r, JIT_CORR), JIT_START, JIT_END, &span))
		return;
	path = intern_text(p->s, (const char *)(uintptr_t)at64(r, JIT_CACHE_PATH));
	row = stream_reserve(p->s, ROW_jit, sizeof *row);
	if (!row)
		return;
	*row = (struct jit_row){
		.start = span.start,
		.duration = span.duration,
		.job = at64(r, JIT_JOB),
		.bytes = at64(r, JIT_CACHE_SIZE),
		.corr = at32(r, JIT_CORR),
		.device = at32(r, JIT_DEVICE),
		.entry = at32(r, JIT_ENTRY),
		.operation = at32(r, JIT_OPERATION),
		.path = path,
		.tid = cupti_client_leaves_tids() ? maybe32(r, l->tid) : 0,
	};
	stream_publish(p->s, row);
}

static void unified(struct cupti_pass *p, const uint8_t *r)
{
	uint32_t kind = at32(r, UNIFIED_KIND);
	bool at_once = kind == UNIFIED_CPU_FAULT || kind == UNIFIED_THRASHING || kind == UNIFIED_REMOTE_MAP;
	struct unified_row *row;
	struct row_times span = { 0, 0 };

	if (at_once ? !time_of(p, r, 0, UNIFIED_START, &span.start) : !span_of(p, r, 0, UNIFIED_START, UNIFIED_END, &span))
		return;
	row = stream_reserve(p->s, ROW_unified, sizeof *row);
	if (!row)
		return;
	*row = (struct unified_row){
		.start = span.start,
		.duration = span.duration,
		.address = at64(r, UNIFIED_ADDRESS),
		.kind = kind,
		.source = UINT32_MAX,
		.target = UINT32_MAX,
	};
	cupti_unified_value(row, r);
	stream_publish(p->s, row);
}

/* ---- definitions: always kept ---- */

static void device_instance(struct device_row *row, const uint8_t *r)
{
	row->flags = DEVICE_KNOWN | (r[DEVICE_IS_VISIBLE] ? DEVICE_VISIBLE : 0);
	if (!r[DEVICE_IS_MIG])
		return;
	row->flags |= DEVICE_MIG;
	row->mig_high = __builtin_bswap64(at64(r, DEVICE_MIG_UUID));
	row->mig_low = __builtin_bswap64(at64(r, DEVICE_MIG_UUID + 8));
	row->gpu_instance = at32(r, DEVICE_GPU_INSTANCE);
	row->compute_instance = at32(r, DEVICE_COMPUTE_INSTANCE);
}

static void device(struct cupti_pass *p, const uint8_t *r, size_t size)
{
	const char *name = (const char *)(uintptr_t)at64(r, DEVICE_NAME);
	uint32_t name_id = intern_text(p->s, name);
	struct device_row *row = stream_reserve(p->s, ROW_device, sizeof *row);

	if (row) {
		*row = (struct device_row){
			.uuid_high = __builtin_bswap64(at64(r, DEVICE_UUID)),
			.uuid_low = __builtin_bswap64(at64(r, DEVICE_UUID + 8)),
			.memory = at64(r, DEVICE_MEMORY),
			.bandwidth = at64(r, DEVICE_BANDWIDTH),
			.id = at32(r, DEVICE_ID),
			.name = name_id,
			.sm_count = at32(r, DEVICE_SM_COUNT),
			.cc_major = at32(r, DEVICE_CC_MAJOR),
			.cc_minor = at32(r, DEVICE_CC_MINOR),
			.clock_khz = at32(r, DEVICE_CLOCK),
			.l2_bytes = at32(r, DEVICE_L2),
			.warp = at32(r, DEVICE_WARP),
			.max_threads_block = at32(r, DEVICE_MAX_THREADS),
			.max_warps_sm = at32(r, DEVICE_MAX_WARPS),
			.max_blocks_sm = at32(r, DEVICE_MAX_BLOCKS),
			.max_shared_sm = at32(r, DEVICE_MAX_SHARED_SM),
			.max_registers_sm = at32(r, DEVICE_MAX_REGISTERS),
			.max_shared_block = at32(r, DEVICE_MAX_SHARED_BLOCK),
			.max_registers_block = at32(r, DEVICE_MAX_REGISTERS_BLOCK),
		};
		if (size >= DEVICE_WITH_MIG)
			device_instance(row, r);
		stream_publish(p->s, row);
	}
	if (!p->given)
		cupti_record_release(r, size);
}

static void context(struct cupti_pass *p, const uint8_t *r)
{
	struct context_row *row = stream_reserve(p->s, ROW_context, sizeof *row);

	if (!row)
		return;
	*row = (struct context_row){
		.id = at32(r, CONTEXT_ID),
		.device = at32(r, CONTEXT_DEVICE),
		.null_stream = at16(r, CONTEXT_NULL_STREAM),
		.api = at16(r, CONTEXT_API),
	};
	stream_publish(p->s, row);
}

/* From 13.2 on; earlier versions report green contexts by CONTEXT records. */
static void green_context(struct cupti_pass *p, const uint8_t *r)
{
	struct context_row *row = stream_reserve(p->s, ROW_context, sizeof *row);

	if (!row)
		return;
	*row = (struct context_row){
		.id = at32(r, GREEN_CONTEXT_ID),
		.device = at32(r, GREEN_DEVICE),
		.null_stream = STREAM_NONE,
	};
	stream_publish(p->s, row);
}

static void stream(struct cupti_pass *p, const uint8_t *r)
{
	struct stream_row *row = stream_reserve(p->s, ROW_stream, sizeof *row);

	if (!row)
		return;
	*row = (struct stream_row){
		.id = at32(r, STREAM_ID),
		.context = at32(r, STREAM_CONTEXT),
		.priority = (int32_t)at32(r, STREAM_PRIORITY),
		.flags = at32(r, STREAM_FLAGS),
	};
	stream_publish(p->s, row);
}

/* ---- any record ---- */

unsigned cupti_row_kind(uint32_t kind)
{
	switch (kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL:
		return ROW_kernel;
	case KIND_MEMCPY:
	case KIND_MEMCPY2:
		return ROW_memcpy;
	case KIND_MEMSET:
		return ROW_memset;
	case KIND_SYNC:
		return ROW_sync;
	case KIND_OVERHEAD:
		return ROW_overhead;
	case KIND_JIT:
		return ROW_jit;
	case KIND_MEMORY:
		return ROW_memory;
	case KIND_MEMORY_POOL:
		return ROW_mempool;
	case KIND_UNIFIED:
		return ROW_unified;
	case KIND_GRAPH:
		return ROW_graph;
	case KIND_DEVICE:
		return ROW_device;
	case KIND_CONTEXT:
	case KIND_GREEN_CONTEXT:
		return ROW_context;
	case KIND_STREAM:
		return ROW_stream;
	default:
		return ROW_none;
	}
}

void cupti_record_release(const uint8_t *r, size_t size)
{
	const struct overhead_layout *overhead_at = &tracer.layout.overhead;
	uint32_t kind = at32(r, 0);

	if (kind == KIND_OVERHEAD && overhead_at->data && size >= overhead_at->data + 8u)
		free((void *)(uintptr_t)at64(r, overhead_at->data));
	if (kind == KIND_DEVICE && size >= tracer.layout.device.owned_name)
		free((void *)(uintptr_t)at64(r, DEVICE_NAME));
}

void cupti_pass_record(struct cupti_pass *p, const uint8_t *r, size_t size)
{
	uint32_t kind = at32(r, 0);
	uint32_t needed = cupti_layouts_size(&tracer.layout, kind);

	if (unlikely(!needed || size < needed)) {
		p->unknown++;
		return;
	}
	p->device_kernels += kind == KIND_CDP_KERNEL;
	if (unlikely(!p->s)) {
		unsigned row = cupti_row_kind(kind);

		if (row != ROW_none)    /* kinds without rows: kernels launched by kernels, CUDA event records */
			health_drop(row, 1);
		return;
	}
	switch (kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL:
		kernel(p, r);
		break;
	case KIND_MEMCPY:
	case KIND_MEMCPY2:
		copy(p, r, kind == KIND_MEMCPY2);
		break;
	case KIND_MEMSET:
		set(p, r);
		break;
	case KIND_SYNC:
		sync_row(p, r);
		break;
	case KIND_OVERHEAD:
		overhead(p, r);
		break;
	case KIND_JIT:
		jit(p, r);
		break;
	case KIND_MEMORY:
		memory(p, r);
		break;
	case KIND_MEMORY_POOL:
		memory_pool(p, r);
		break;
	case KIND_UNIFIED:
		unified(p, r);
		break;
	case KIND_GRAPH:
		graph(p, r);
		break;
	case KIND_DEVICE:
		device(p, r, size);
		break;
	case KIND_CONTEXT:
		context(p, r);
		break;
	case KIND_GREEN_CONTEXT:
		green_context(p, r);
		break;
	case KIND_STREAM:
		stream(p, r);
		break;
	}
}

