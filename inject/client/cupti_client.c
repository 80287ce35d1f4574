#include "inject/client/cupti_client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "inject/client/cupti_clock.h"
#include "inject/client/cupti_share.h"
#include "inject/client/cupti_window.h"
#include "inject/client/cupti_yield.h"
#include "inject/core/health.h"
#include "inject/core/lock.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_activity.h"

struct cupti_client cupti_client = { .all_syncs = 1 };

static uint32_t gate;                   /* lock */

/* ---- which calls are answered here ---- */

/* Base address of the library that contains fn; NULL: unknown. */
static const void *library_of(void *fn)
{
	Dl_info info;

	return fn && dladdr(fn, &info) ? info.dli_fbase : NULL;
}

static bool early(void *fn)
{
	bool bound;

	lock_take(&gate);
	bound = tracer.state == TRACER_UP || cupti_bind_early(fn);
	lock_give(&gate);
	return bound;
}

bool cupti_client_serves(void *fn)
{
	void *version;

	if (!fn || !session_wanted() || tracer.parent_had_cuda || !session_connect())
		return false;
	if (!guest->config.trace_cuda || guest->config.cupti_mode == CUPTI_KEEP)
		return false;
	if (__atomic_load_n(&tracer.state, __ATOMIC_ACQUIRE) == TRACER_UP ? tracer.pid != session_real_pid()
									  : !early(fn))
		return false;
	memcpy(&version, &tracer.fn.GetVersion, sizeof version);
	return tracer.fn.Unsubscribe && tracer.fn.ActivityDisable && library_of(fn) == library_of(version);
}

bool cupti_client_leaves_tids(void)
{
	return !cupti_client.n_kinds || cupti_client.thread_ids == THREAD_ID_SYSTEM;
}

/* ---- activity: common to --cupti=share and --cupti=yield ---- */

static bool shares(void)
{
	return guest->config.cupti_mode == CUPTI_SHARE && !cupti_client.alone;
}

bool cupti_client_has_kind(uint32_t kind)
{
	return kind < CLIENT_KINDS && cupti_client.kinds[kind / 64] >> kind % 64 & 1;
}

bool cupti_client_ever_had(uint32_t kind)
{
	return kind < CLIENT_KINDS && cupti_client.ever[kind / 64] >> kind % 64 & 1;
}

static void note_kind(uint32_t kind, bool on)
{
	struct cupti_client *c = &cupti_client;

	if (kind >= CLIENT_KINDS || cupti_client_has_kind(kind) == on)
		return;
	c->kinds[kind / 64] ^= 1ull << kind % 64;
	c->ever[kind / 64] |= 1ull << kind % 64;
	c->n_ever = 1;
	__atomic_store_n(&c->n_kinds, c->n_kinds + (on ? 1 : -1u), __ATOMIC_RELEASE);
}

int cupti_client_register(void (*requested)(uint8_t **, size_t *, size_t *),
			  void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t), const char *who)
{
	struct cupti_client *c = &cupti_client;
	int result = RESULT_OK;

	if (!requested || !completed)
		return RESULT_INVALID_PARAMETER;
	lock_take(&gate);
	if (!c->name[0])
		snprintf(c->name, sizeof c->name, "%s", who);
	__atomic_store_n(&c->requested, requested, __ATOMIC_RELEASE);
	__atomic_store_n(&c->completed, completed, __ATOMIC_RELEASE);
	__atomic_store_n(&c->seen, 1, __ATOMIC_RELEASE);
	if (!shares() && c->n_kinds)
		cupti_yield_begin();
	/* CUPTI always has the tracer's buffer callbacks: a buffer may come back long after activity was handed over. */
	if (tracer.state != TRACER_UP)
		result = tracer.fn.ActivityRegisterCallbacks(cupti_activity_request, cupti_activity_complete);
	lock_give(&gate);
	return result;
}

/* Enabled for the tracer now: the client must not disable it. */
static bool is_ours(uint32_t kind)
{
	return tracer.state == TRACER_UP && !cupti_yield_holds() && cupti_activity_asked(kind);
}

static int switch_kind(enum kind_switch how, int kind, void *context)
{
	switch (how) {
	case KIND_ON:
		return tracer.fn.ActivityEnable(kind);
	case KIND_OFF:
		return tracer.fn.ActivityDisable(kind);
	case KIND_ON_DUMP:
		return tracer.fn.ActivityEnableAndDump ? tracer.fn.ActivityEnableAndDump(kind) : RESULT_UNKNOWN;
	case KIND_ON_CONTEXT:
		return tracer.fn.ActivityEnableContext ? tracer.fn.ActivityEnableContext(context, kind)
						       : RESULT_UNKNOWN;
	case KIND_OFF_CONTEXT:
		return tracer.fn.ActivityDisableContext ? tracer.fn.ActivityDisableContext(context, kind)
							: RESULT_UNKNOWN;
	}
	return RESULT_UNKNOWN;
}

static void apply_settings(void)
{
	struct cupti_client *c = &cupti_client;
	bool syncs = c->n_kinds && (!shares() || cupti_client_has_kind(KIND_SYNC));

	if (tracer.state != TRACER_UP)
		return;         /* the tracer has changed nothing */
	tracer.fn.SetThreadIdType((int)(c->n_kinds ? c->thread_ids : THREAD_ID_SYSTEM));
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords((uint8_t)(syncs ? c->all_syncs : 0));
}

static int yield_kind(enum kind_switch how, int kind, void *context)
{
	bool on = how <= KIND_ON_CONTEXT;

	/* Without registered buffers activity is not handed over; the client's records are lost, as without the tracer. */
	if (on && cupti_client.requested)
		cupti_yield_begin();
	return !on && is_ours((uint32_t)kind) ? RESULT_OK : switch_kind(how, kind, context);
}

/* Leaving disables kinds: not in versions whose kinds must stay enabled, and not before the tracer has enabled any. */
static bool may_leave(void)
{
	return tracer.state == TRACER_UP && cupti_client.requested && !tracer_keeps_kinds(tracer.version);
}

/* The rest of this session is the client's alone.  Pausing the tracer disabled the kinds that both have: enable these again. */
static void leave_sharing(int kind)
{
	cupti_client.alone = 1;
	cupti_yield_because(kind);
	cupti_yield_begin();
	cupti_share_leave();
	for (uint32_t had = 0; had < CLIENT_KINDS; had++)
		if (cupti_client_has_kind(had))
			tracer.fn.ActivityEnable((int)had);
	apply_settings();
}

static int share_kind(enum kind_switch how, int kind, void *context)
{
	bool on = how <= KIND_ON_CONTEXT, one_context = how == KIND_ON_CONTEXT && may_leave();
	int result = one_context ? RESULT_NOT_COMPATIBLE : cupti_share_kind(on, how == KIND_ON_DUMP, kind);

	if (!on || result != RESULT_NOT_COMPATIBLE)
		return result;
	if (!may_leave()) {
		if (tracer_keeps_kinds(tracer.version))
			health_note(HEALTH_cupti_flawed, "kind %d refused to the program's profiler, as kinds must stay enabled; use %s", kind,
				    tracer_better_release(tracer.version));
		return result;
	}
	leave_sharing(kind);
	return yield_kind(how, kind, context);
}

int cupti_client_kind(enum kind_switch how, int kind, void *context)
{
	uint32_t before;
	int result;

	lock_take(&gate);
	before = cupti_client.n_kinds;
	result = shares() ? share_kind(how, kind, context) : yield_kind(how, kind, context);
	if (result == RESULT_OK)
		note_kind((uint32_t)kind, how <= KIND_ON_CONTEXT);
	if (shares())
		cupti_share_settle();
	if (before != cupti_client.n_kinds)
		apply_settings();
	lock_give(&gate);
	if (!shares() && !cupti_client.n_kinds)
		cupti_client_try_resume();
	return result;
}

void cupti_client_try_resume(void)
{
	lock_take(&gate);
	if (!cupti_client.n_kinds)
		cupti_yield_end();
	if (!cupti_yield_holds())
		cupti_client.alone = 0;
	lock_give(&gate);
}

/* The tracer never enables such records, so all of them are the client's, also those in the tracer's buffers. */
int cupti_client_calls(uint32_t kind, int result)
{
	struct cupti_client *c = &cupti_client;

	if (result != RESULT_OK)
		return result;
	lock_take(&gate);
	c->ever[kind / 64] |= 1ull << kind % 64;
	c->n_ever = 1;
	cupti_share_single(kind);
	lock_give(&gate);
	return result;
}

int cupti_client_flush(uint32_t flag)
{
	int result = tracer.fn.ActivityFlushAll(flag);

	cupti_share_deliver(flag & FLUSH_FORCED);
	if (!shares() && !cupti_client.n_kinds)
		cupti_client_try_resume();
	return result;
}

/*
 * With --cupti=share, records lost because the client gave no buffer are known after CUPTI has delivered to the tracer: at the client's
 * next flush.
 */
int cupti_client_dropped(void *context, uint32_t stream, size_t *dropped)
{
	int result = RESULT_OK;

	if (!dropped)
		return RESULT_INVALID_PARAMETER;
	*dropped = 0;
	if (cupti_yield_holds())
		result = tracer.fn.ActivityGetNumDroppedRecords(context, stream, dropped);
	*dropped += cupti_share_take_dropped();
	return result;
}

/* Stored, never passed to CUPTI: cupti_clock.h. */
int cupti_client_clock(uint64_t (*clock)(void))
{
	if (!clock)
		return RESULT_INVALID_PARAMETER;
	cupti_clock_set(clock);
	return RESULT_OK;
}

int cupti_client_timestamp(uint64_t *timestamp)
{
	uint64_t (*clock)(void) = cupti_clock_get();

	if (!timestamp)
		return RESULT_INVALID_PARAMETER;
	if (!clock)
		return tracer.fn.GetTimestamp ? tracer.fn.GetTimestamp(timestamp) : RESULT_UNKNOWN;
	*timestamp = clock();
	return RESULT_OK;
}

int cupti_client_all_syncs(uint8_t enable)
{
	lock_take(&gate);
	cupti_client.all_syncs = !!enable;
	if (tracer.state != TRACER_UP && tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords(enable);
	else
		apply_settings();
	lock_give(&gate);
	return RESULT_OK;
}

int cupti_client_thread_ids(uint32_t type)
{
	int result = RESULT_OK;

	lock_take(&gate);
	if (cupti_client.n_kinds || tracer.state != TRACER_UP)
		result = tracer.fn.SetThreadIdType((int)type);
	if (result == RESULT_OK)
		cupti_client.thread_ids = type;
	lock_give(&gate);
	return result;
}

bool cupti_client_per_thread(void)
{
	return cupti_client.per_thread ? cupti_client.per_thread > 1 : tracer_each_thread();
}

/*
 * Attributes of activity buffers are stored, and take effect when CUPTI gets the client's buffers.  One buffer per thread matters to
 * libkineto, which stops at 32 buffers.
 */
int cupti_client_attribute(int attribute, size_t *size, void *value)
{
	uint8_t each = (uint8_t)tracer.per_thread;
	bool ours = tracer.state == TRACER_UP && !cupti_yield_holds();
	int result;

	if (!tracer.fn.ActivitySetAttribute)
		return RESULT_UNKNOWN;
	if (attribute == ATTRIBUTE_ZEROED && size && value && *size >= sizeof each) {
		cupti_client.zeroed = !!*(uint8_t *)value;
		return ours ? RESULT_OK : tracer.fn.ActivitySetAttribute(attribute, size, value);
	}
	if (attribute != ATTRIBUTE_PER_THREAD || !size || !value || *size < sizeof each)
		return tracer.fn.ActivitySetAttribute(attribute, size, value);
	/* Setting the tracer's value once more tells whether this CUPTI has the attribute. */
	result = tracer.fn.ActivitySetAttribute(attribute, size, ours ? &each : value);
	if (result == RESULT_OK)
		cupti_client.per_thread = 1u + !!*(uint8_t *)value;
	return result;
}

/* The tracer has not started. */
static int finalize_early(void)
{
	int result = tracer.fn.Finalize ? tracer.fn.Finalize() : RESULT_UNKNOWN;

	if (result != RESULT_OK)
		return result;
	lock_take(&gate);
	tracer.subscriber = NULL;
	cupti_client_forget();
	lock_give(&gate);
	return result;
}

/* Ends everything of the client's; CUPTI continues for the tracer. */
int cupti_client_finalize(void)
{
	if (tracer.state != TRACER_UP)
		return finalize_early();
	for (uint32_t kind = 0; kind < CLIENT_KINDS; kind++)
		if (cupti_client_has_kind(kind))
			cupti_client_kind(KIND_OFF, (int)kind, NULL);
	if (cupti_client_may_flush())
		cupti_client_flush(FLUSH_FORCED);
	if (cupti_client.subscribed)
		cupti_client_unsubscribe(tracer.subscriber);
	lock_take(&gate);
	cupti_client.requested = NULL;
	cupti_client.completed = NULL;
	cupti_client.thread_ids = 0;
	cupti_client.all_syncs = 1;
	cupti_clock_set(NULL);
	cupti_window_forget();
	lock_give(&gate);
	return RESULT_OK;
}

void cupti_client_refused(const char *who)
{
	health_note(HEALTH_cupti_refused, "%s", who);
}

void cupti_client_lock(void)
{
	lock_take(&gate);
}

void cupti_client_unlock(void)
{
	lock_give(&gate);
}

void cupti_client_forget(void)
{
	cupti_client = (struct cupti_client){ .all_syncs = 1 };
	gate = 0;
	cupti_both_forget();
	cupti_clock_set(NULL);
	cupti_window_forget();
	cupti_share_forget();
	cupti_yield_forget();
}
