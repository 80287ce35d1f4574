#include "inject/cupti_activity.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/cupti.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_client.h"
#include "inject/cupti_graph.h"
#include "inject/cupti_raw.h"
#include "inject/cupti_rows.h"
#include "inject/cupti_share.h"
#include "inject/cupti_yield.h"

#define NOT_READY 600u          /* cudaErrorNotReady, CUDA_ERROR_NOT_READY */

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

static uint64_t asked;                  /* a bit for each kind that CUPTI did not refuse */
static uint32_t paused, enabled, asleep;

static bool sleeps(int kind)
{
	return asleep && kind != KIND_DEVICE && kind != KIND_CONTEXT && kind != KIND_STREAM;
}

int cupti_activity_switch_on(int kind)
{
	int result = paused || sleeps(kind) ? RESULT_OK : tracer.fn.ActivityEnable(kind);

	if (result == RESULT_OK)
		asked |= 1ull << kind;
	return result;
}

bool cupti_activity_asked(uint32_t kind)
{
	return kind < 64 && asked >> kind & 1;
}

bool cupti_activity_holds(uint32_t kind)
{
	return cupti_activity_asked(kind) && !sleeps((int)kind);
}

bool cupti_activity_lacks(uint32_t kind)
{
	return paused || !cupti_activity_asked(kind);
}

void cupti_activity_forget(void)
{
	asked = 0;
	paused = enabled = asleep = 0;
}

bool cupti_activity_sleeps(void)
{
	return asleep;
}

void cupti_activity_sleep(void)
{
	__atomic_store_n(&asleep, 1, __ATOMIC_RELEASE);
	for (int kind = 0; kind < 64 && !paused; kind++)
		if (asked >> kind & 1 && sleeps(kind))
			tracer.fn.ActivityDisable(kind);
}

void cupti_activity_wake(void)
{
	uint64_t sleeping = 0;
	int result;

	for (int kind = 0; kind < 64; kind++)
		sleeping |= (uint64_t)(asked >> kind & 1 && sleeps(kind)) << kind;
	if (cupti_client_has_kind(KIND_KERNEL))         /* in place of ours, until it is done (cupti_share.c) */
		sleeping &= ~(1ull << KIND_CONCURRENT_KERNEL);
	__atomic_store_n(&asleep, 0, __ATOMIC_RELEASE);
	for (int kind = 0; kind < 64 && !paused; kind++) {
		result = sleeping >> kind & 1 ? tracer.fn.ActivityEnable(kind) : RESULT_OK;
		if (result == RESULT_OK)
			continue;
		asked &= ~(1ull << kind);
		health_note(HEALTH_cupti_kind, "kind %d: CUPTI error %d", kind, result);
	}
	if (!paused && tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(0);
}

void cupti_activity_pause(void)
{
	__atomic_store_n(&paused, 1, __ATOMIC_RELEASE);
	for (int kind = 0; kind < 64; kind++)
		if (asked >> kind & 1)
			tracer.fn.ActivityDisable(kind);
}

void cupti_activity_resume(void)
{
	__atomic_store_n(&paused, 0, __ATOMIC_RELEASE);
	if (!enabled)
		cupti_activity_enable();
	for (int kind = 0; kind < 64; kind++)
		if (asked >> kind & 1 && !sleeps(kind))
			tracer.fn.ActivityEnable(kind);
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(0);
}

/* Node by node where CUPTI cannot do otherwise, or shall not. */
static bool enable_whole_graphs(void)
{
	int result;

	if (!guest->config.whole_graphs)
		return false;
	result = cupti_activity_switch_on(KIND_GRAPH);
	if (result != RESULT_OK)
		health_note(HEALTH_cupti_kind, "GRAPH_TRACE: CUPTI error %d; graphs are recorded node by node", result);
	return result == RESULT_OK;
}

bool cupti_activity_ask(int kind, const char *name)
{
	int result = cupti_activity_switch_on(kind);

	if (result != RESULT_OK)
		health_note(HEALTH_cupti_kind, "%s: CUPTI error %d", name, result);
	return result == RESULT_OK;
}

void cupti_activity_enable(void)
{
	enabled = 1;
	for (size_t i = 0; i < N_KINDS; i++)
		cupti_activity_ask(kinds[i].kind, kinds[i].name);
	if (guest->config.memory_usage) {
		cupti_activity_ask(KIND_MEMORY, "MEMORY2");
		cupti_activity_ask(KIND_MEMORY_POOL, "MEMORY_POOL");
	}
	if (guest->config.trace_jit)
		cupti_activity_ask(KIND_JIT, "JIT");
	if (!enable_whole_graphs())
		cupti_graph_enable();
	/* Queries that answered "not ready" are no waits, and loops over them flood the trace. */
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(0);
}

/* What the program's own profiler asked for and we did not.  It may have asked for kernels or graphs our kind of which is other. */
static bool is_foreign(uint32_t kind)
{
	if (!cupti_client_ever_had(kind) || cupti_activity_asked(kind))
		return false;
	return (kind != KIND_KERNEL && kind != KIND_GRAPH) || !cupti_activity_asked(KIND_CONCURRENT_KERNEL);
}

/* While the profiler wants every wait, queries that answered "not ready" come too. */
static bool is_query(const uint8_t *r, size_t size)
{
	const struct sync_layout *l = &tracer.layout.sync;

	return at32(r, 0) == KIND_SYNC && l->result && size >= l->size && at32(r, l->result) == NOT_READY;
}

static bool is_ours(const struct cupti_pass *p, const uint8_t *r, size_t size)
{
	return !is_foreign(at32(r, 0)) && !(p->given && is_query(r, size));
}

/*
 * The loaded library alone knows the size of each record, so it tells where the next one begins; a record is read when that is known.
 * A library that leaves the buffer or stands still is not followed.
 */
static void walk_buffer(struct cupti_pass *p, uint8_t *buffer, size_t valid)
{
	uint8_t *end = buffer + valid;
	bool mixed = cupti_client.n_ever;       /* else every record is ours */
	uint8_t *at = NULL, *next = NULL;
	int result;

	while ((result = tracer.fn.ActivityGetNextRecord(buffer, valid, &next)) == RESULT_OK) {
		if (next < buffer || end - next < 8 || (at && next <= at)) {
			p->unknown++;
			break;
		}
		if (at && likely(!mixed || is_ours(p, at, (size_t)(next - at))))
			cupti_pass_record(p, at, (size_t)(next - at));
		at = next;
	}
	if (at && (!mixed || is_ours(p, at, (size_t)(end - at))))
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
static void to_rows(uint8_t *buffer, size_t valid, bool keep, bool give)
{
	struct cupti_pass p;

	cupti_pass_init(&p, keep ? enter() : NULL);
	p.given = give;
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

static void copy_one(struct cupti_copy *c, const uint8_t *r, size_t size)
{
	if (!cupti_copy_record(c, r, size))
		cupti_record_release(r, size);
}

/* The profiler's own records, into its buffers.  Not while the rows are written: its functions run here. */
static void to_profiler(struct cupti_copy *c, uint8_t *buffer, size_t valid)
{
	uint8_t *end = buffer + valid;
	uint8_t *at = NULL, *next = NULL;

	while (tracer.fn.ActivityGetNextRecord(buffer, valid, &next) == RESULT_OK) {
		if (next < buffer || end - next < 8 || (at && next <= at))
			break;
		if (at)
			copy_one(c, at, (size_t)(next - at));
		at = next;
	}
	if (at)
		copy_one(c, at, (size_t)(end - at));
}

static void deliver(uint8_t *buffer, size_t valid, bool keep)
{
	struct cupti_copy copy;

	cupti_copy_begin(&copy);
	to_rows(buffer, valid, keep, copy.on);
	if (unlikely(copy.on))
		to_profiler(&copy, buffer, valid);
	cupti_copy_end(&copy);
}

uint64_t cupti_activity_dropped(void)
{
	size_t dropped = 0;

	if (tracer.fn.ActivityGetNumDroppedRecords(NULL, 0, &dropped) != RESULT_OK || !dropped)
		return 0;
	health_add(HEALTH_cupti_dropped, dropped);
	if (unlikely(cupti_client.n_kinds))
		cupti_share_add_dropped(dropped);
	return dropped;
}

void cupti_activity_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	if (unlikely(cupti_yield_holds()))
		cupti_yield_request(buffer, size, max_records);
	else
		cupti_buffers_request(buffer, size, max_records);
}

void cupti_activity_complete(void *ctx, uint32_t stream_id, uint8_t *buffer, size_t size, size_t valid)
{
	int64_t begin = clock_now();
	int saved = errno;
	uint64_t dropped;

	if (unlikely(!cupti_buffers_gave(buffer))) {
		cupti_yield_complete(ctx, stream_id, buffer, size, valid);
		return;
	}
	dropped = cupti_activity_dropped();
	if (cupti_buffers_has(buffer)) {
		if (valid && valid <= size) {
			/* First: reading some records frees what they point to. */
			if (unlikely(guest->config.record_raw[0]))
				cupti_raw_append(buffer, size, valid, dropped);
			deliver(buffer, valid, true);
		}
		cupti_buffers_return(buffer);
	} else if (cupti_buffers_discard(buffer) && valid <= size) {
		deliver(buffer, valid, false);
	}
	health_cost(COST_buffer, begin);
	errno = saved;
}
