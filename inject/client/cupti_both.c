/* One CUPTI subscription for two subscribers, the tracer and the client: stores what each of them enabled and passes callbacks to both. */
#include "inject/client/cupti_client.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "inject/client/cupti_share.h"
#include "inject/core/lock.h"
#include "inject/core/stream.h"
#include "inject/cupti/cupti.h"

#define DOMAINS 8u
/* 13.0 has 807 driver callbacks.  Higher ids are not stored: they go to the client, the tracer uses lower ones only. */
#define CBIDS   1024u
#define QUIET_WAIT_NS 100000000ll       /* longest wait of unsubscribing for running callbacks */

/* Bit sets of callbacks: enabled by the tracer, enabled by the client.  CUPTI has the union enabled. */
static uint64_t ours[DOMAINS][CBIDS / 64], theirs[DOMAINS][CBIDS / 64];

static uint32_t running;                /* callbacks of the client that are running now */

/*
 * Lock around cuptiEnableCallback() and similar functions: a subscriber must serialise them, and the client calls from any thread.  Not
 * the client's gate, which is held while CUPTI switches kinds and may wait for a callback that needs this lock.
 */
static uint32_t switches;

/*
 * State of this thread.  CUPTI has one word per call for its subscriber, from entry to exit; the client gets it, and the tracer's word for
 * the outermost call is kept here.
 */
static __thread struct {
	uint64_t start;                 /* the tracer's word: start of the call */
	uint32_t corr;                  /* correlation id of that call; 0: none */
	uint16_t domain;                /* domain of the innermost client callback on this thread */
	uint8_t depth;                  /* nested client callbacks on this thread */
	uint8_t switching;              /* nested holds of `switches` */
} here __attribute__((tls_model("initial-exec")));

#define SWITCH_WAIT_NS 2000000000ll     /* longest wait for `switches`; CUPTI needs microseconds */

static bool free_now(void)
{
	uint32_t nobody = 0, self = guest->epoch;

	return __atomic_compare_exchange_n(&switches, &nobody, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ||
	       (nobody != self && __atomic_compare_exchange_n(&switches, &nobody, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
}

/* Waits longer than lock_take(): CUPTI's state does not stay correct if two threads hold the lock. */
static void switches_take(void)
{
	int64_t begin;

	if (here.switching++ || free_now())
		return;
	begin = clock_ns(CLOCK_MONOTONIC);
	while (!free_now() && clock_ns(CLOCK_MONOTONIC) - begin < SWITCH_WAIT_NS)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 50000 }, NULL);
}

static void switches_give(void)
{
	if (--here.switching == 0)
		lock_give(&switches);
}

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

/* ---- subscription ---- */

static void say_holder(const struct cupti_subscriber_params *p)
{
	if (p && p->old_name && p->old_size)
		snprintf(p->old_name, p->old_size, "%s", cupti_client.name);
}

/* The process's first subscription, for the tracer or the client: always with cupti_callback() and the first family of functions. */
static int subscribe_first(struct cupti_subscriber_params *params)
{
	void *subscriber = NULL;
	int result;

	if (tracer.subscriber)
		return RESULT_OK;
	result = tracer.fn.Subscribe(&subscriber, cupti_callback, NULL);
	if (result == RESULT_OK)
		tracer.subscriber = subscriber;
	else if (result == RESULT_BUSY && params && tracer.fn.Subscribe_v2)
		cupti_ask_holder(params);
	return result;
}

int cupti_client_subscribe(void **subscriber, void (*callback)(void *, int, uint32_t, const void *), void *user,
			   struct cupti_subscriber_params *params, const char *who)
{
	struct cupti_client *c = &cupti_client;
	int result = RESULT_BUSY;

	if (!subscriber)
		return RESULT_INVALID_PARAMETER;
	cupti_client_lock();
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
	cupti_client_unlock();
	return result;
}

/* Waits for callbacks running on other threads, since the client may free what they use.  Bounded: they may wait for this thread. */
static void wait_until_quiet(void)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) > here.depth &&
	       clock_ns(CLOCK_MONOTONIC) - begin < QUIET_WAIT_NS)
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

/* A handle of another subscriber: the call is passed to CUPTI. */
static bool is_foreign(const void *subscriber)
{
	return subscriber && subscriber != tracer.subscriber;
}

static bool is_subscriber(const void *subscriber)
{
	return cupti_client.subscribed && subscriber && subscriber == tracer.subscriber;
}

int cupti_client_unsubscribe(void *subscriber)
{
	struct cupti_client *c = &cupti_client;
	int result = RESULT_OK;

	if (is_foreign(subscriber))
		return tracer.fn.Unsubscribe(subscriber);
	if (!is_subscriber(subscriber))
		return RESULT_INVALID_PARAMETER;
	cupti_client_lock();
	c->subscribed = 0;
	__atomic_store_n(&c->callback, NULL, __ATOMIC_RELEASE);
	switches_take();
	for (uint32_t domain = 1; domain < DOMAINS; domain++)
		disable_domain(domain);
	switches_give();
	if (tracer.state != TRACER_UP) {        /* the tracer has not started; it will subscribe then */
		result = tracer.fn.Unsubscribe(tracer.subscriber);
		tracer.subscriber = NULL;
	}
	cupti_client_unlock();
	wait_until_quiet();
	return result;
}

/* ---- callbacks ---- */

void cupti_want(int domain, uint32_t cbid)
{
	switches_take();
	if (tracer.fn.EnableCallback(1, tracer.subscriber, domain, cbid) == RESULT_OK)
		set_bit(ours, (uint32_t)domain, cbid, true);
	switches_give();
}

int cupti_client_enable(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
	int result;

	if (is_foreign(subscriber))
		return tracer.fn.EnableCallback(enable, subscriber, domain, cbid);
	if (!is_subscriber(subscriber))
		return RESULT_INVALID_PARAMETER;
	switches_take();
	/* A callback that the tracer uses stays enabled.  CUPTI is still asked: its answer says whether the callback exists. */
	result = tracer.fn.EnableCallback(enable || bit(ours, (uint32_t)domain, cbid), subscriber, domain, cbid);
	if (result == RESULT_OK)
		set_bit(theirs, (uint32_t)domain, cbid, enable);
	switches_give();
	return result;
}

static bool have_any(uint32_t domain)
{
	for (uint32_t i = 0; i < CBIDS / 64; i++)
		if (ours[domain][i])
			return true;
	return false;
}

static int switch_domain(uint32_t enable, void *subscriber, int domain)
{
	uint32_t d = (uint32_t)domain;
	int result = RESULT_OK;

	if (enable) {
		result = tracer.fn.EnableDomain ? tracer.fn.EnableDomain(1, subscriber, domain) : RESULT_UNKNOWN;
		for (uint32_t cbid = 0; result == RESULT_OK && cbid < CBIDS; cbid++)
			set_bit(theirs, d, cbid, true);
	} else if (have_any(d)) {
		disable_domain(d);      /* one by one: the tracer's callbacks must stay enabled */
	} else {
		for (uint32_t cbid = 0; cbid < CBIDS; cbid++)
			set_bit(theirs, d, cbid, false);
		result = tracer.fn.EnableDomain ? tracer.fn.EnableDomain(0, subscriber, domain) : RESULT_UNKNOWN;
	}
	return result;
}

int cupti_client_enable_domain(uint32_t enable, void *subscriber, int domain)
{
	int result;

	if (is_foreign(subscriber))
		return tracer.fn.EnableDomain ? tracer.fn.EnableDomain(enable, subscriber, domain) : RESULT_UNKNOWN;
	if (!is_subscriber(subscriber) || (uint32_t)domain >= DOMAINS)
		return RESULT_INVALID_PARAMETER;
	switches_take();
	result = switch_domain(enable, subscriber, domain);
	switches_give();
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

	if (enable && is_foreign(subscriber))
		return tracer.fn.GetCallbackState ? tracer.fn.GetCallbackState(enable, subscriber, domain, cbid) : RESULT_UNKNOWN;
	if (!enable || !is_subscriber(subscriber))
		return RESULT_INVALID_PARAMETER;
	result = tracer.fn.GetCallbackState ? tracer.fn.GetCallbackState(enable, subscriber, domain, cbid)
					    : RESULT_UNKNOWN;
	if (result == RESULT_OK)
		*enable = bit(theirs, (uint32_t)domain, cbid);
	return result;
}

/* `running` is incremented before the function is read: wait_until_quiet() then waits for this callback. */
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
 * Calls the tracer's callback.  CUPTI's word for the call is the client's; the tracer's word is swapped in for the outermost call, the
 * only one that is timed.
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

void cupti_both_forget(void)
{
	memset(ours, 0, sizeof ours);
	memset(theirs, 0, sizeof theirs);
	running = switches = 0;
}
