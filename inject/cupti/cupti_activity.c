#include "inject/cupti/cupti_activity.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/client/cupti_client.h"
#include "inject/client/cupti_share.h"
#include "inject/client/cupti_yield.h"
#include "inject/core/scratch.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/cupti/cupti_graph.h"
#include "inject/cupti/cupti_raw.h"
#include "inject/cupti/cupti_rows.h"
#include "inject/cupti/cupti_walk.h"

#define NOT_READY 600u          /* cudaErrorNotReady, CUDA_ERROR_NOT_READY */
#define UNSAFE_WHOLE_GRAPHS 22u /* 12.4; its Update 1 reports the same version and is safe */
#define GREEN_CONTEXTS 130200u  /* from here on green contexts have an activity kind */

/* Kinds that are always enabled. */
static const struct {
	int kind;
	const char *name;
} kinds[] = {
	{ KIND_CONCURRENT_KERNEL, "CONCURRENT_KERNEL" },        /* not KERNEL, which serialises kernels */
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

static uint64_t asked;                  /* bit per kind enabled for the tracer */
static uint32_t paused, enabled, asleep;

static bool sleeps(int kind)
{
	return asleep && kind != KIND_DEVICE && kind != KIND_CONTEXT && kind != KIND_GREEN_CONTEXT && kind != KIND_STREAM;
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
	if (cupti_client_has_kind(KIND_KERNEL))         /* the client's KERNEL replaces CONCURRENT_KERNEL (cupti_share.c) */
		sleeping &= ~(1ull << KIND_CONCURRENT_KERNEL);
	__atomic_store_n(&asleep, 0, __ATOMIC_RELEASE);
	for (int kind = 0; kind < 64 && !paused; kind++) {
		result = sleeping >> kind & 1 ? tracer.fn.ActivityEnable(kind) : RESULT_OK;
		if (result == RESULT_OK)
			continue;
		asked &= ~(1ull << kind);
		health_note(HEALTH_cupti_kind, "activity kind %d: CUPTI error %d", kind, result);
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

/* False: graphs are recorded node by node, by setting or because CUPTI refused. */
static bool enable_whole_graphs(void)
{
	int result;

	if (!guest->config.whole_graphs)
		return false;
	if (tracer.version == UNSAFE_WHOLE_GRAPHS)
		health_note(HEALTH_cupti_flawed, "CUPTI 12.4 before 12.4.127 may crash at copies and sets in whole graphs; use 12.4.127");
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
	if (tracer.version >= GREEN_CONTEXTS)
		cupti_activity_ask(KIND_GREEN_CONTEXT, "GREEN_CONTEXT");
	if (guest->config.memory_usage) {
		cupti_activity_ask(KIND_MEMORY, "MEMORY2");
		cupti_activity_ask(KIND_MEMORY_POOL, "MEMORY_POOL");
	}
	if (guest->config.trace_jit)
		cupti_activity_ask(KIND_JIT, "JIT");
	if (!enable_whole_graphs())
		cupti_graph_enable();
	/* Leave out queries that returned "not ready": they do not wait, and polling loops would flood the trace. */
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(0);
}

/*
 * True for kinds that only the client enabled.  KERNEL and GRAPH stand in for the tracer's CONCURRENT_KERNEL: their records are the
 * tracer's too.
 */
static bool is_foreign(uint32_t kind)
{
	if (!cupti_client_ever_had(kind) || cupti_activity_asked(kind))
		return false;
	return (kind != KIND_KERNEL && kind != KIND_GRAPH) || !cupti_activity_asked(KIND_CONCURRENT_KERNEL);
}

/* While the client records all synchronizations, queries that returned "not ready" arrive too. */
static bool is_query(const uint8_t *r, size_t size)
{
	const struct sync_layout *l = &tracer.layout.sync;

	return at32(r, 0) == KIND_SYNC && l->result && size >= l->size && at32(r, l->result) == NOT_READY;
}

static bool is_ours(const struct cupti_pass *p, const uint8_t *r, size_t size)
{
	return !is_foreign(at32(r, 0)) && !(p->given && is_query(r, size));
}

static void walk_buffer(struct cupti_pass *p, uint8_t *buffer, size_t valid)
{
	bool mixed = cupti_client.n_ever;       /* otherwise every record is the tracer's */
	struct cupti_walk walk;
	uint8_t *r;
	size_t size;

	cupti_walk_begin(&walk, buffer, valid);
	while (cupti_walk(&walk, &r, &size))
		if (likely(!mixed || is_ours(p, r, size)))
			cupti_pass_record(p, r, size);
	p->unknown += cupti_walk_lost(&walk);
}

/* Enters the stream.  A thread first seen when it delivers a buffer is CUPTI's: its thread row gets the tool flag. */
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

/* keep false: the records are only counted. */
static void to_rows(uint8_t *buffer, size_t valid, bool keep, bool give)
{
	struct stream *s = keep ? enter() : NULL;
	struct cupti_pass *p = scratch_push(sizeof *p);
	bool gpu = false;

	if (p) {
		cupti_pass_init(p, s);
		p->given = give;
		walk_buffer(p, buffer, valid);
		if (p->unknown)
			health_add(HEALTH_record_unknown, p->unknown);
		if (p->device_kernels)
			health_add(HEALTH_device_kernels, p->device_kernels);
		if (p->zero_times)
			health_add(HEALTH_zero_time, p->zero_times);
		gpu = p->gpu;
	}
	scratch_pop(p);
	if (s)
		stream_leave(s);
	if (gpu && !(guest->flags & PROCESS_KERNELS))
		session_flag(PROCESS_KERNELS);
}

/* Copies the client's records into its buffers.  After to_rows(), outside the stream: the client's functions are called here. */
static void to_profiler(struct cupti_copy *c, uint8_t *buffer, size_t valid)
{
	struct cupti_walk walk;
	uint8_t *r;
	size_t size;

	cupti_walk_begin(&walk, buffer, valid);
	while (cupti_walk(&walk, &r, &size))
		if (!cupti_copy_record(c, r, size))
			cupti_record_release(r, size);
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
			/* First: reading some records frees memory that they point to. */
			if (unlikely(guest->config.record_raw[0]))
				cupti_raw_append(buffer, size, valid, dropped);
			deliver(buffer, valid, true);
		}
		cupti_buffers_return(buffer, valid < size ? valid : size);
	} else if (cupti_buffers_discard(buffer) && valid <= size) {
		deliver(buffer, valid, false);
	}
	health_cost(COST_buffer, begin);
	errno = saved;
}
