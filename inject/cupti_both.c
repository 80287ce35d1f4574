/* One subscription, two that are told: what each side asked for, and callbacks to both. */
#include "inject/cupti_client.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "inject/cupti.h"
#include "inject/cupti_share.h"
#include "inject/lock.h"
#include "inject/stream.h"

#define DOMAINS 8u
/* 13.0 has 807 driver callbacks.  Of higher ones nothing is kept: they go to the profiler, ours are lower. */
#define CBIDS   1024u
#define QUIET_WAIT_NS 100000000ll       /* the longest that unsubscribing waits for callbacks that are running */

/* Who wants which callbacks: a bit each.  CUPTI is asked for the union. */
static uint64_t ours[DOMAINS][CBIDS / 64], theirs[DOMAINS][CBIDS / 64];

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

/*
 * Callbacks that other threads run now end first: it may free what they use.  Not for ever: they may wait for this
 * thread.
 */
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
	cupti_client_lock();
	c->subscribed = 0;
	__atomic_store_n(&c->callback, NULL, __ATOMIC_RELEASE);
	for (uint32_t domain = 1; domain < DOMAINS; domain++)
		disable_domain(domain);
	if (tracer.state != TRACER_UP) {        /* we have not come yet, and subscribe when we do */
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
	result = tracer.fn.GetCallbackState ? tracer.fn.GetCallbackState(enable, subscriber, domain, cbid)
					    : RESULT_UNKNOWN;
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
 * The word that CUPTI keeps between entry and exit of a call is the profiler's; ours stands in `here` meanwhile, of the
 * outermost call, the only one that we time.
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
	running = 0;
}
