#include "inject/cupti_activity.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/cupti.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_raw.h"
#include "inject/intern.h"

#define MEMOS 128u

/* A kernel's name and launch configuration repeat; looking them up by pointer saves hashing both for each launch. */
struct memo {
	uint64_t name;                  /* CUPTI's pointer */
	uint32_t name_id;
	struct config_row config;       /* id 0: this place is empty */
};

/*
 * One pass over a buffer.  The memos live no longer than that: names are CUPTI's memory, and a pointer may stand for another name after
 * a module was unloaded, but not while records that use it are in our hands.
 */
struct walk {
	struct stream *s;               /* NULL: rows can only be counted */
	int64_t on, over;               /* recording was on from, until, in REALTIME ns; 0: not yet */
	uint64_t unknown, zero_times;
	bool gpu;                       /* a row of GPU work was written */
	struct memo memos[MEMOS];
};

static const struct {
	uint16_t kind, row;
	const char *name;
} kinds[] = {
	{ KIND_CONCURRENT_KERNEL, ROW_kernel,   "CONCURRENT_KERNEL" },  /* never KERNEL: that one serialises kernels */
	{ KIND_KERNEL,            ROW_kernel,   NULL },
	{ KIND_MEMCPY,            ROW_memcpy,   "MEMCPY" },
	{ KIND_MEMCPY2,           ROW_memcpy,   "MEMCPY2" },            /* peer copies */
	{ KIND_MEMSET,            ROW_memset,   "MEMSET" },
	{ KIND_SYNC,              ROW_sync,     "SYNCHRONIZATION" },
	{ KIND_OVERHEAD,          ROW_overhead, "OVERHEAD" },
	{ KIND_DEVICE,            ROW_device,   "DEVICE" },
	{ KIND_CONTEXT,           ROW_context,  "CONTEXT" },
	{ KIND_STREAM,            ROW_stream,   "STREAM" },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

void cupti_activity_enable(void)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		int result = kinds[i].name ? tracer.fn.ActivityEnable(kinds[i].kind) : RESULT_OK;

		if (result == RESULT_OK)
			continue;
		health_note(HEALTH_cupti_kind, "%s: CUPTI error %d", kinds[i].name, result);
		tracer.no_contexts |= kinds[i].kind == KIND_CONTEXT;
		tracer.no_streams |= kinds[i].kind == KIND_STREAM;
	}
	/* Queries that answered "not ready" are no waits, and loops over them flood the trace. */
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(0);
}

/* ---- one record -> one row ---- */

/* What began outside the recorded time is left out; without a time it counts if recording has begun and not ended. */
static bool wanted(const struct walk *w, int64_t start)
{
	if (!w->on)
		return false;
	return start ? start >= w->on && (!w->over || start < w->over) : !w->over;
}

struct span {
	int64_t start, duration;
};

/* False: not wanted.  A record without both times, or with times that run backwards, has none. */
static bool span_of(struct walk *w, const uint8_t *r, unsigned start, unsigned end, struct span *span)
{
	int64_t t0 = (int64_t)at64(r, start);
	int64_t t1 = (int64_t)at64(r, end);

	if (unlikely(!wanted(w, t0)))
		return false;
	if (unlikely(t0 <= 0 || t1 < t0)) {
		w->zero_times++;
		*span = (struct span){ 0, 0 };
	} else {
		*span = (struct span){ t0, t1 - t0 };
	}
	return true;
}

static const struct memo *memo_of(struct walk *w, const uint8_t *r)
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
	struct memo *m = &w->memos[hash >> 57];

	_Static_assert(MEMOS == 1u << (64 - 57), "the hash's highest bits number the places");
	if (likely(m->config.id && m->name == name && memcmp(&m->config.grid_x, &c.grid_x, sizeof c - sizeof c.id) == 0))
		return m;
	m->name = name;
	m->name_id = intern_text(w->s, (const char *)(uintptr_t)name);
	m->config = c;
	intern_config(w->s, &m->config);
	return m;
}

static void kernel(struct walk *w, const uint8_t *r)
{
	const struct kernel_layout *l = &tracer.layout.kernel;
	const struct memo *m;
	struct kernel_row *row;
	struct span span;

	if (!span_of(w, r, KERNEL_START, KERNEL_END, &span))
		return;
	m = memo_of(w, r);
	row = stream_reserve(w->s, ROW_kernel, sizeof *row);
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
	stream_publish(w->s, row);
	w->gpu = true;
}

static void copy(struct walk *w, const uint8_t *r, bool peer)
{
	const struct memcpy_layout *l = peer ? &tracer.layout.memcpy2 : &tracer.layout.memcpy;
	struct memcpy_row *row;
	struct span span;

	if (!span_of(w, r, MEMCPY_START, MEMCPY_END, &span))
		return;
	row = stream_reserve(w->s, ROW_memcpy, sizeof *row);
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
	stream_publish(w->s, row);
	w->gpu = true;
}

static void set(struct walk *w, const uint8_t *r)
{
	const struct memset_layout *l = &tracer.layout.memset;
	struct memset_row *row;
	struct span span;

	if (!span_of(w, r, MEMSET_START, MEMSET_END, &span))
		return;
	row = stream_reserve(w->s, ROW_memset, sizeof *row);
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
	stream_publish(w->s, row);
	w->gpu = true;
}

static void sync_row(struct walk *w, const uint8_t *r)
{
	const struct sync_layout *l = &tracer.layout.sync;
	struct sync_row *row;
	struct span span;

	if (!span_of(w, r, SYNC_START, SYNC_END, &span))
		return;
	row = stream_reserve(w->s, ROW_sync, sizeof *row);
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
	stream_publish(w->s, row);
}

/* Which of the three words of an object id names the object. */
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

static void overhead(struct walk *w, const uint8_t *r)
{
	const struct overhead_layout *l = &tracer.layout.overhead;
	uint32_t object_kind = at32(r, OVERHEAD_OBJECT_KIND);
	struct overhead_row *row = NULL;
	struct span span;

	if (span_of(w, r, OVERHEAD_START, OVERHEAD_END, &span))
		row = stream_reserve(w->s, ROW_overhead, sizeof *row);
	if (row) {
		*row = (struct overhead_row){
			.start = span.start,
			.duration = span.duration,
			.kind = at32(r, OVERHEAD_KIND),
			.object_kind = object_kind,
			.object = at32(r, object_offset(object_kind)),
			.corr = maybe32(r, l->corr),
		};
		stream_publish(w->s, row);
	}
	if (l->data)
		free((void *)(uintptr_t)at64(r, l->data));
}

/* ---- definitions: always kept ---- */

static void device(struct walk *w, const uint8_t *r, size_t size)
{
	const char *name = (const char *)(uintptr_t)at64(r, DEVICE_NAME);
	uint32_t name_id = intern_text(w->s, name);
	struct device_row *row = stream_reserve(w->s, ROW_device, sizeof *row);

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
		};
		stream_publish(w->s, row);
	}
	if (size >= tracer.layout.device.owned_name)
		free((void *)(uintptr_t)name);
}

static void context(struct walk *w, const uint8_t *r)
{
	struct context_row *row = stream_reserve(w->s, ROW_context, sizeof *row);

	if (!row)
		return;
	*row = (struct context_row){
		.id = at32(r, CONTEXT_ID),
		.device = at32(r, CONTEXT_DEVICE),
		.null_stream = at16(r, CONTEXT_NULL_STREAM),
		.api = at16(r, CONTEXT_API),
	};
	stream_publish(w->s, row);
}

static void stream(struct walk *w, const uint8_t *r)
{
	struct stream_row *row = stream_reserve(w->s, ROW_stream, sizeof *row);

	if (!row)
		return;
	*row = (struct stream_row){
		.id = at32(r, STREAM_ID),
		.context = at32(r, STREAM_CONTEXT),
		.priority = (int32_t)at32(r, STREAM_PRIORITY),
		.flags = at32(r, STREAM_FLAGS),
	};
	stream_publish(w->s, row);
}

/* ---- a buffer ---- */

static void lose(uint32_t kind)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].kind == kind)
			health_drop(kinds[i].row, 1);
}

/* size: to the next record, or to the end of the buffer. */
static void record(struct walk *w, const uint8_t *r, size_t size)
{
	uint32_t kind = at32(r, 0);
	uint32_t needed = cupti_layouts_size(&tracer.layout, kind);

	if (unlikely(!needed || size < needed)) {
		w->unknown++;
		return;
	}
	if (unlikely(!w->s)) {
		lose(kind);
		return;
	}
	switch (kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL:
		kernel(w, r);
		break;
	case KIND_MEMCPY:
	case KIND_MEMCPY2:
		copy(w, r, kind == KIND_MEMCPY2);
		break;
	case KIND_MEMSET:
		set(w, r);
		break;
	case KIND_SYNC:
		sync_row(w, r);
		break;
	case KIND_OVERHEAD:
		overhead(w, r);
		break;
	case KIND_DEVICE:
		device(w, r, size);
		break;
	case KIND_CONTEXT:
		context(w, r);
		break;
	case KIND_STREAM:
		stream(w, r);
		break;
	}
}

/*
 * The loaded library alone knows the size of each record, so it tells where the next one begins; a record is read when that is known.
 * A library that leaves the buffer or stands still is not followed.
 */
static void walk_buffer(struct walk *w, uint8_t *buffer, size_t valid)
{
	uint8_t *end = buffer + valid;
	uint8_t *at = NULL, *next = NULL;
	int result;

	while ((result = tracer.fn.ActivityGetNextRecord(buffer, valid, &next)) == RESULT_OK) {
		if (next < buffer || end - next < 8 || (at && next <= at)) {
			w->unknown++;
			break;
		}
		if (at)
			record(w, at, (size_t)(next - at));
		at = next;
	}
	if (at)
		record(w, at, (size_t)(end - at));
	/* After the last record the library says "no more"; anything else means that it could not read on. */
	if (result != RESULT_OK && result != RESULT_MAX_LIMIT) {
		uint32_t size = at ? cupti_layouts_size(&tracer.layout, at32(at, 0)) : 0;

		w->unknown += (size_t)(end - (at ? at : buffer)) >= size + 8u;
	}
}

/* A thread that we meet first when it delivers a buffer is CUPTI's; the flag is for its thread row. */
static struct stream *enter(void)
{
	struct stream *self = &stream_self;
	bool known = self->tool || self->scratch || (self->epoch && self->epoch == guest->epoch);
	struct stream *s;

	if (!known && syscall(SYS_gettid) != session_real_pid())
		self->tool = 1;
	s = stream_enter();
	return s;
}

/* Not kept: the rows are only counted. */
static void to_rows(uint8_t *buffer, size_t valid, bool keep)
{
	const struct arena *a = guest->arena;
	struct walk w;

	w.on = a ? __atomic_load_n(&a->on_time, __ATOMIC_ACQUIRE) : 0;
	w.over = a ? __atomic_load_n(&a->over_time, __ATOMIC_ACQUIRE) : 0;
	w.unknown = w.zero_times = 0;
	w.gpu = false;
	for (size_t i = 0; i < MEMOS; i++)
		w.memos[i].config.id = 0;
	w.s = keep ? enter() : NULL;
	walk_buffer(&w, buffer, valid);
	if (w.s)
		stream_leave(w.s);
	if (w.unknown)
		health_add(HEALTH_record_unknown, w.unknown);
	if (w.zero_times)
		health_add(HEALTH_zero_time, w.zero_times);
	if (w.gpu && !(guest->flags & PROCESS_KERNELS))
		session_flag(PROCESS_KERNELS);
}

uint64_t cupti_activity_dropped(void)
{
	size_t dropped = 0;

	if (tracer.fn.ActivityGetNumDroppedRecords(NULL, 0, &dropped) != RESULT_OK || !dropped)
		return 0;
	health_add(HEALTH_cupti_dropped, dropped);
	return dropped;
}

void cupti_activity_complete(void *ctx, uint32_t stream_id, uint8_t *buffer, size_t size, size_t valid)
{
	int64_t begin = clock_now();
	int saved = errno;
	uint64_t dropped = cupti_activity_dropped();

	(void)ctx;
	(void)stream_id;
	if (cupti_buffers_has(buffer)) {
		if (valid && valid <= size) {
			/* First: reading some records frees what they point to. */
			if (unlikely(guest->config.record_raw[0]))
				cupti_raw_append(buffer, size, valid, dropped);
			to_rows(buffer, valid, true);
		}
		cupti_buffers_return(buffer);
	} else if (cupti_buffers_discard(buffer) && valid <= size) {
		to_rows(buffer, valid, false);
	}
	health_cost(COST_buffer, begin);
	errno = saved;
}
