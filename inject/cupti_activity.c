#include "inject/cupti_activity.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/cupti.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_graph.h"
#include "inject/cupti_raw.h"
#include "inject/cupti_rows.h"

/* What we always ask for. */
static const struct {
	int kind;
	const char *name;
} kinds[] = {
	{ KIND_CONCURRENT_KERNEL, "CONCURRENT_KERNEL" },        /* never KERNEL: that one serialises kernels */
	{ KIND_MEMCPY,            "MEMCPY" },
	{ KIND_MEMCPY2,           "MEMCPY2" },                  /* peer copies */
	{ KIND_MEMSET,            "MEMSET" },
	{ KIND_SYNC,              "SYNCHRONIZATION" },
	{ KIND_OVERHEAD,          "OVERHEAD" },
	{ KIND_DEVICE,            "DEVICE" },
	{ KIND_CONTEXT,           "CONTEXT" },
	{ KIND_STREAM,            "STREAM" },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* Node by node where CUPTI cannot do otherwise, or shall not. */
static bool enable_whole_graphs(void)
{
	int result;

	if (!guest->config.whole_graphs)
		return false;
	result = tracer.fn.ActivityEnable(KIND_GRAPH);
	if (result != RESULT_OK)
		health_note(HEALTH_cupti_kind, "GRAPH_TRACE: CUPTI error %d; graphs are recorded node by node", result);
	return result == RESULT_OK;
}

static bool enable(int kind, const char *name)
{
	int result = tracer.fn.ActivityEnable(kind);

	if (result != RESULT_OK)
		health_note(HEALTH_cupti_kind, "%s: CUPTI error %d", name, result);
	return result == RESULT_OK;
}

void cupti_activity_enable(void)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		if (enable(kinds[i].kind, kinds[i].name))
			continue;
		tracer.no_contexts |= kinds[i].kind == KIND_CONTEXT;
		tracer.no_streams |= kinds[i].kind == KIND_STREAM;
	}
	if (guest->config.memory_usage) {
		enable(KIND_MEMORY, "MEMORY2");
		enable(KIND_MEMORY_POOL, "MEMORY_POOL");
	}
	if (guest->config.trace_jit)
		enable(KIND_JIT, "JIT");
	if (!enable_whole_graphs())
		cupti_graph_enable();
	/* Queries that answered "not ready" are no waits, and loops over them flood the trace. */
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(0);
}

/*
 * The loaded library alone knows the size of each record, so it tells where the next one begins; a record is read when that is known.
 * A library that leaves the buffer or stands still is not followed.
 */
static void walk_buffer(struct cupti_pass *p, uint8_t *buffer, size_t valid)
{
	uint8_t *end = buffer + valid;
	uint8_t *at = NULL, *next = NULL;
	int result;

	while ((result = tracer.fn.ActivityGetNextRecord(buffer, valid, &next)) == RESULT_OK) {
		if (next < buffer || end - next < 8 || (at && next <= at)) {
			p->unknown++;
			break;
		}
		if (at)
			cupti_pass_record(p, at, (size_t)(next - at));
		at = next;
	}
	if (at)
		cupti_pass_record(p, at, (size_t)(end - at));
	/* After the last record the library says "no more"; anything else means that it could not read on. */
	if (result != RESULT_OK && result != RESULT_MAX_LIMIT) {
		uint32_t size = at ? cupti_layouts_size(&tracer.layout, at32(at, 0)) : 0;

		p->unknown += (size_t)(end - (at ? at : buffer)) >= size + 8u;
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
	struct cupti_pass p;

	cupti_pass_init(&p, keep ? enter() : NULL);
	walk_buffer(&p, buffer, valid);
	if (p.s)
		stream_leave(p.s);
	if (p.unknown)
		health_add(HEALTH_record_unknown, p.unknown);
	if (p.zero_times)
		health_add(HEALTH_zero_time, p.zero_times);
	if (p.gpu && !(guest->flags & PROCESS_KERNELS))
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
