#include "inject/cupti_client.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "inject/cupti.h"
#include "inject/cupti_activity.h"
#include "inject/cupti_clock.h"
#include "inject/cupti_share.h"
#include "inject/cupti_window.h"
#include "inject/cupti_yield.h"
#include "inject/health.h"
#include "inject/lock.h"
#include "inject/stream.h"

#define DOMAINS 8u
#define CBIDS   1024u           /* 13.0 has 807 driver callbacks; of higher ones nothing is kept, they go to who wants all */
#define QUIET_WAIT_NS 100000000ll       /* the longest that unsubscribing waits for callbacks that are running */

struct cupti_client cupti_client = { .all_syncs = 1 };

/* Who wants which callbacks: a bit each.  CUPTI is asked for the union. */
static uint64_t ours[DOMAINS][CBIDS / 64], theirs[DOMAINS][CBIDS / 64];

static uint32_t gate;                   /* lock */
static uint32_t running;                /* callbacks of the profiler that are running now */

/* Of the outermost API call on this thread: CUPTI gives both sides one word to keep from its entry to its exit. */
static __thread struct {
	uint64_t start;                 /* what we keep there */
	uint32_t corr;                  /* of which call; 0: none */
	uint16_t depth;                 /* callbacks of the profiler that this thread is in */
	uint16_t domain;                /* of the innermost */
} here __attribute__((tls_model("initial-exec")));

static bool bit(uint64_t (*set)[CBIDS / 64], uint32_t domain, uint32_t cbid)
{
	return domain < DOMAINS && cbid < CBIDS &&
	       __atomic_load_n(&set[domain][cbid / 64], __ATOMIC_RELAXED) >> cbid % 64 & 1;
}

static void set_bit(uint64_t (*set)[CBIDS / 64], uint32_t domain, uint32_t cbid, bool on)
{
	uint64_t mask = 1ull << cbid % 64;

	if (domain >= DOMAINS || cbid >= CBIDS)
		return;
	if (on)
		__atomic_fetch_or(&set[domain][cbid / 64], mask, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&set[domain][cbid / 64], ~mask, __ATOMIC_RELAXED);
}

/* ---- is it for us? ---- */

/* Which copy of libcupti a function is of. */
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
	if (__atomic_load_n(&tracer.state, __ATOMIC_ACQUIRE) == TRACER_UP ? tracer.pid != session_real_pid() : !early(fn))
		return false;
	memcpy(&version, &tracer.fn.GetVersion, sizeof version);
	return tracer.fn.Unsubscribe && tracer.fn.ActivityDisable && library_of(fn) == library_of(version);
}

/* ---- subscription ---- */

static void say_holder(const struct cupti_subscriber_params *p)
{
	if (p && p->old_name && p->old_size)
		snprintf(p->old_name, p->old_size, "%s", cupti_client.name);
}

/* The first subscription of the process, ours or its: always with our callback. */
static int subscribe_first(struct cupti_subscriber_params *params)
{
	if (tracer.subscriber)
		return RESULT_OK;
	if (params && tracer.fn.Subscribe_v2)
		return tracer.fn.Subscribe_v2(&tracer.subscriber, cupti_callback, NULL, params);
	return tracer.fn.Subscribe(&tracer.subscriber, cupti_callback, NULL);
}

int cupti_client_subscribe(void **subscriber, void (*callback)(void *, int, uint32_t, const void *), void *user,
			   struct cupti_subscriber_params *params, const char *who)
{
	struct cupti_client *c = &cupti_client;
	int result = RESULT_BUSY;

	if (!subscriber)
		return RESULT_INVALID_PARAMETER;
	lock_take(&gate);
	if (c->subscribed)
		say_holder(params);
	else
		result = subscribe_first(params);
	if (result == RESULT_OK) {
		snprintf(c->name, sizeof c->name, "%s", who);
		c->user = user;
		__atomic_store_n(&c->callback, callback, __ATOMIC_RELEASE);
		c->subscribed = 1;
		__atomic_store_n(&c->seen, 1, __ATOMIC_RELEASE);
		*subscriber = tracer.subscriber;
	}
	lock_give(&gate);
	return result;
}

/* Callbacks that other threads run now end first: it may free what they use.  Not for ever: they may wait for this thread. */
static void wait_until_quiet(void)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) > here.depth && clock_ns(CLOCK_MONOTONIC) - begin < QUIET_WAIT_NS)
		sched_yield();
}

static void disable_domain(uint32_t domain)
{
	for (uint32_t cbid = 0; cbid < CBIDS; cbid++)
		if (bit(theirs, domain, cbid)) {
			set_bit(theirs, domain, cbid, false);
			if (!bit(ours, domain, cbid))
				tracer.fn.EnableCallback(0, tracer.subscriber, (int)domain, cbid);
		}
}

static bool is_subscriber(const void *subscriber)
{
	return cupti_client.subscribed && subscriber && subscriber == tracer.subscriber;
}

int cupti_client_unsubscribe(void *subscriber)
{
	struct cupti_client *c = &cupti_client;
	int result = RESULT_OK;

	if (!is_subscriber(subscriber))
		return RESULT_INVALID_PARAMETER;
	lock_take(&gate);
	c->subscribed = 0;
	__atomic_store_n(&c->callback, NULL, __ATOMIC_RELEASE);
	for (uint32_t domain = 1; domain < DOMAINS; domain++)
		disable_domain(domain);
	if (tracer.state != TRACER_UP) {        /* we have not come yet, and subscribe when we do */
		result = tracer.fn.Unsubscribe(tracer.subscriber);
		tracer.subscriber = NULL;
	}
	lock_give(&gate);
	wait_until_quiet();
	return result;
}

/* ---- callbacks ---- */

void cupti_want(int domain, uint32_t cbid)
{
	if (tracer.fn.EnableCallback(1, tracer.subscriber, domain, cbid) == RESULT_OK)
		set_bit(ours, (uint32_t)domain, cbid, true);
}

int cupti_client_enable(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
	bool keep = bit(ours, (uint32_t)domain, cbid);
	int result;

	if (!is_subscriber(subscriber))
		return RESULT_INVALID_PARAMETER;
	/* One that we want stays on; asking for it says whether there is such a callback at all. */
	result = tracer.fn.EnableCallback(enable || keep, subscriber, domain, cbid);
	if (result == RESULT_OK)
		set_bit(theirs, (uint32_t)domain, cbid, enable);
	return result;
}

static bool have_any(uint32_t domain)
{
	for (uint32_t i = 0; i < CBIDS / 64; i++)
		if (ours[domain][i])
			return true;
	return false;
}

int cupti_client_enable_domain(uint32_t enable, void *subscriber, int domain)
{
	uint32_t d = (uint32_t)domain;
	int result = RESULT_OK;

	if (!is_subscriber(subscriber) || d >= DOMAINS)
		return RESULT_INVALID_PARAMETER;
	if (enable) {
		result = tracer.fn.EnableDomain ? tracer.fn.EnableDomain(1, subscriber, domain) : RESULT_UNKNOWN;
		for (uint32_t cbid = 0; result == RESULT_OK && cbid < CBIDS; cbid++)
			set_bit(theirs, d, cbid, true);
	} else if (have_any(d)) {
		disable_domain(d);      /* one by one: ours must not pause */
	} else {
		for (uint32_t cbid = 0; cbid < CBIDS; cbid++)
			set_bit(theirs, d, cbid, false);
		result = tracer.fn.EnableDomain ? tracer.fn.EnableDomain(0, subscriber, domain) : RESULT_UNKNOWN;
	}
	return result;
}

int cupti_client_enable_all(uint32_t enable, void *subscriber)
{
	int result = RESULT_OK;

	for (int domain = DOMAIN_DRIVER; domain <= DOMAIN_STATE && result == RESULT_OK; domain++)
		result = cupti_client_enable_domain(enable, subscriber, domain);
	return result;
}

int cupti_client_state(uint32_t *enable, void *subscriber, int domain, uint32_t cbid)
{
	int result;

	if (!enable || !is_subscriber(subscriber))
		return RESULT_INVALID_PARAMETER;
	result = tracer.fn.GetCallbackState ? tracer.fn.GetCallbackState(enable, subscriber, domain, cbid) : RESULT_UNKNOWN;
	if (result == RESULT_OK)
		*enable = bit(theirs, (uint32_t)domain, cbid);
	return result;
}

/* Counted before the function is read: whoever takes it away waits for this thread. */
static void tell(int domain, uint32_t cbid, const void *data)
{
	void (*callback)(void *, int, uint32_t, const void *);
	uint16_t outer = here.domain;

	__atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
	callback = __atomic_load_n(&cupti_client.callback, __ATOMIC_SEQ_CST);
	if (callback) {
		here.depth++;
		here.domain = (uint16_t)domain;
		callback(cupti_client.user, domain, cbid, data);
		here.domain = outer;
		here.depth--;
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
}

/*
 * The word that CUPTI keeps between entry and exit of a call is the profiler's; ours stands in `here` meanwhile, of the outermost call,
 * the only one that we time.
 */
static void tell_us(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	uint64_t word;

	if (domain != DOMAIN_RUNTIME && domain != DOMAIN_DRIVER) {
		cupti_own_callback(domain, cbid, d);
		return;
	}
	word = *d->data;
	if (d->site == SITE_ENTER) {
		cupti_own_callback(domain, cbid, d);
		if ((stream_self.scratch & 0xffff) == 1 && (uint32_t)(stream_self.scratch >> 32) == d->corr) {
			here.start = *d->data;
			here.corr = d->corr;
		}
	} else {
		if (here.corr == d->corr && (stream_self.scratch & 0xffff) == 1)
			*d->data = here.start;
		cupti_own_callback(domain, cbid, d);
	}
	*d->data = word;
}

void cupti_client_callback(int domain, uint32_t cbid, const void *data)
{
	bool call = domain == DOMAIN_RUNTIME || domain == DOMAIN_DRIVER;

	if (unlikely(call && cupti_share_alert()) && ((const struct cupti_call_data *)data)->site == SITE_ENTER)
		cupti_share_begun(((const struct cupti_call_data *)data)->corr);
	if (bit(ours, (uint32_t)domain, cbid))
		tell_us(domain, cbid, data);
	if (bit(theirs, (uint32_t)domain, cbid) || cbid >= CBIDS)
		tell(domain, cbid, data);
}

bool cupti_client_may_flush(void)
{
	return !here.depth || here.domain == DOMAIN_RUNTIME || here.domain == DOMAIN_DRIVER;
}

bool cupti_client_leaves_tids(void)
{
	return !cupti_client.n_kinds || cupti_client.thread_ids == THREAD_ID_SYSTEM;
}

/* ---- activity: what both ways of dealing with it have in common ---- */

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
	if (guest->config.cupti_mode == CUPTI_YIELD && c->n_kinds)
		cupti_yield_begin();
	/* CUPTI calls us, always: a buffer may come back long after it changed hands. */
	if (tracer.state != TRACER_UP)
		result = tracer.fn.ActivityRegisterCallbacks(cupti_activity_request, cupti_activity_complete);
	lock_give(&gate);
	return result;
}

/* Enabled for us now, and not to be disabled by it. */
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
		return tracer.fn.ActivityEnableContext ? tracer.fn.ActivityEnableContext(context, kind) : RESULT_UNKNOWN;
	case KIND_OFF_CONTEXT:
		return tracer.fn.ActivityDisableContext ? tracer.fn.ActivityDisableContext(context, kind) : RESULT_UNKNOWN;
	}
	return RESULT_UNKNOWN;
}

static void apply_settings(void)
{
	struct cupti_client *c = &cupti_client;
	bool syncs = c->n_kinds && (guest->config.cupti_mode == CUPTI_YIELD || cupti_client_has_kind(KIND_SYNC));

	if (tracer.state != TRACER_UP)
		return;         /* nothing was ever changed */
	tracer.fn.SetThreadIdType((int)(c->n_kinds ? c->thread_ids : THREAD_ID_SYSTEM));
	if (tracer.fn.ActivityEnableAllSyncRecords)
		tracer.fn.ActivityEnableAllSyncRecords((uint8_t)(syncs ? c->all_syncs : 0));
}

int cupti_client_kind(enum kind_switch how, int kind, void *context)
{
	bool share = guest->config.cupti_mode == CUPTI_SHARE, on = how <= KIND_ON_CONTEXT;
	uint32_t before;
	int result;

	lock_take(&gate);
	before = cupti_client.n_kinds;
	if (share) {
		result = cupti_share_kind(on, how == KIND_ON_DUMP, kind);
	} else {
		/* Without buffers there is nothing to hand over; its records are then as lost as they would be. */
		if (on && cupti_client.requested)
			cupti_yield_begin();
		result = !on && is_ours((uint32_t)kind) ? RESULT_OK : switch_kind(how, kind, context);
	}
	if (result == RESULT_OK)
		note_kind((uint32_t)kind, on);
	if (share)
		cupti_share_settle();
	if (before != cupti_client.n_kinds)
		apply_settings();
	lock_give(&gate);
	if (!share && !cupti_client.n_kinds)
		cupti_client_try_resume();
	return result;
}

void cupti_client_try_resume(void)
{
	lock_take(&gate);
	if (!cupti_client.n_kinds)
		cupti_yield_end();
	lock_give(&gate);
}

int cupti_client_flush(uint32_t flag)
{
	int result = tracer.fn.ActivityFlushAll(flag);

	if (guest->config.cupti_mode == CUPTI_SHARE)
		cupti_share_deliver(flag & FLUSH_FORCED);
	else if (!cupti_client.n_kinds)
		cupti_client_try_resume();
	return result;
}

/* With --cupti=share what its request function refused is known when CUPTI has delivered to us: at its next flush. */
int cupti_client_dropped(void *context, uint32_t stream, size_t *dropped)
{
	int result = RESULT_OK;

	if (!dropped)
		return RESULT_INVALID_PARAMETER;
	*dropped = 0;
	if (guest->config.cupti_mode == CUPTI_YIELD && cupti_yield_holds())
		result = tracer.fn.ActivityGetNumDroppedRecords(context, stream, dropped);
	*dropped += cupti_share_take_dropped();
	return result;
}

int cupti_client_clock(uint64_t (*clock)(void))
{
	if (!clock)
		return RESULT_INVALID_PARAMETER;
	cupti_clock_set(clock);
	if (guest->config.cupti_mode == CUPTI_YIELD && (cupti_yield_holds() || tracer.state != TRACER_UP))
		return cupti_yield_clock();
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

/* Nothing of ours is there yet. */
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

/* All that is its own ends; CUPTI goes on for us. */
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
	memset(ours, 0, sizeof ours);
	memset(theirs, 0, sizeof theirs);
	gate = running = 0;
	cupti_clock_set(NULL);
	cupti_window_forget();
	cupti_share_forget();
	cupti_yield_forget();
}
