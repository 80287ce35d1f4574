#include "inject/client/cupti_share.h"

#include <sched.h>
#include <string.h>

#include "inject/client/cupti_client.h"
#include "inject/client/cupti_clock.h"
#include "inject/client/cupti_late.h"
#include "inject/client/cupti_window.h"
#include "inject/client/cupti_yield.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_rows.h"
#include "trace/clock.h"

#define LOTS         64u
#define PASS_WAIT_NS 200000000ll        /* longest wait of a flush for other threads that are copying */

/* A buffer of the client, filled by one thread at a time. */
struct lot {
	uint32_t state;                 /* enum lot_state */
	uint8_t *data;
	size_t size, used, n, max;      /* max: most records; 0: as many as fit */
	void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
};

enum lot_state { LOT_NONE, LOT_IDLE, LOT_BUSY };

static struct lot lots[LOTS];
static uint32_t passes;                 /* CUPTI buffers that are being copied from */
static uint32_t alert, stopped;
static uint64_t dropped;
static int32_t whole_graphs = -1;       /* whether GRAPH_TRACE is enabled; -1: as the tracer set it */

/* ---- kinds ---- */

static int64_t now(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static int enable(int kind, bool dump)
{
	int result;

	if (dump)
		return tracer.fn.ActivityEnableAndDump ? tracer.fn.ActivityEnableAndDump(kind) : RESULT_UNKNOWN;
	if (kind == KIND_KERNEL && cupti_activity_holds(KIND_CONCURRENT_KERNEL))
		tracer.fn.ActivityDisable(KIND_CONCURRENT_KERNEL);
	result = tracer.fn.ActivityEnable(kind);
	if (kind == KIND_KERNEL && result != RESULT_OK && cupti_activity_holds(KIND_CONCURRENT_KERNEL))
		tracer.fn.ActivityEnable(KIND_CONCURRENT_KERNEL);
	return result;
}

static int disable(int kind)
{
	int result = RESULT_OK;

	if (!cupti_activity_holds((uint32_t)kind))
		result = tracer.fn.ActivityDisable(kind);
	if (kind == KIND_KERNEL && cupti_client_has_kind(KIND_KERNEL) && cupti_activity_holds(KIND_CONCURRENT_KERNEL))
		tracer.fn.ActivityEnable(KIND_CONCURRENT_KERNEL);
	return result;
}

int cupti_share_kind(bool on, bool dump, int kind)
{
	int result = on ? enable(kind, dump) : disable(kind);

	if (result != RESULT_OK)
		return result;
	if (kind == KIND_GRAPH)
		whole_graphs = on || cupti_activity_asked(KIND_GRAPH);
	cupti_clock_read();
	if (on)
		cupti_window_open((uint32_t)kind, now());
	else
		cupti_window_close((uint32_t)kind, now());
	__atomic_store_n(&alert, 1, __ATOMIC_RELEASE);
	return result;
}

void cupti_share_single(uint32_t kind)
{
	cupti_window_open(kind, now());
	__atomic_store_n(&alert, 1, __ATOMIC_RELEASE);
}

void cupti_share_settle(void)
{
	static const uint32_t work[] = { KIND_MEMCPY,  KIND_MEMSET, KIND_KERNEL, KIND_CONCURRENT_KERNEL,
					 KIND_MEMCPY2, KIND_GRAPH };
	bool ours = cupti_activity_asked(KIND_GRAPH), want = ours;

	for (size_t i = 0; i < sizeof work / sizeof *work; i++)
		if (cupti_client_has_kind(work[i]))
			want = cupti_client_has_kind(KIND_GRAPH);
	if (want == (whole_graphs < 0 ? ours : whole_graphs == 1))
		return;
	if ((want ? tracer.fn.ActivityEnable : tracer.fn.ActivityDisable)(KIND_GRAPH) == RESULT_OK)
		whole_graphs = want;
}

void cupti_share_leave(void)
{
	for (uint32_t kind = 0; kind < CLIENT_KINDS; kind++)
		if (cupti_client_has_kind(kind))
			cupti_window_close(kind, now());
	whole_graphs = -1;
	__atomic_store_n(&alert, 1, __ATOMIC_RELEASE);
}

/* ---- the client's buffers ---- */

static bool claim(struct lot *l, uint32_t from)
{
	return __atomic_compare_exchange_n(&l->state, &from, LOT_BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void put_back(struct lot *l, uint32_t state)
{
	__atomic_store_n(&l->state, state, __ATOMIC_RELEASE);
}

static struct lot *take_idle(void)
{
	for (uint32_t i = 0; i < LOTS; i++)
		if (__atomic_load_n(&lots[i].state, __ATOMIC_RELAXED) == LOT_IDLE && claim(&lots[i], LOT_IDLE))
			return &lots[i];
	return NULL;
}

/* Asks the client for a buffer; NULL if it gives none. */
static struct lot *take_new(void)
{
	void (*requested)(uint8_t **, size_t *, size_t *) = __atomic_load_n(&cupti_client.requested, __ATOMIC_ACQUIRE);

	if (!requested)
		return NULL;
	for (uint32_t i = 0; i < LOTS; i++) {
		struct lot *l = &lots[i];

		if (__atomic_load_n(&l->state, __ATOMIC_RELAXED) != LOT_NONE || !claim(l, LOT_NONE))
			continue;
		l->data = NULL;
		l->size = l->used = l->n = l->max = 0;
		l->completed = __atomic_load_n(&cupti_client.completed, __ATOMIC_ACQUIRE);
		requested(&l->data, &l->size, &l->max);
		if (l->data)
			return l;
		put_back(l, LOT_NONE);
		return NULL;
	}
	return NULL;
}

static void hand_over(struct lot *l)
{
	void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t) = l->completed;
	uint8_t *data = l->data;
	size_t size = l->size, used = l->used;

	put_back(l, LOT_NONE);
	__atomic_store_n(&alert, 1, __ATOMIC_RELEASE);
	if (completed)
		completed(NULL, 0, data, size, used);
}

bool cupti_share_alert(void)
{
	return __atomic_load_n(&alert, __ATOMIC_RELAXED);
}

void cupti_share_begun(uint32_t corr)
{
	struct lot *l;

	__atomic_store_n(&alert, 0, __ATOMIC_RELAXED);
	if (cupti_window_pending())
		cupti_window_begun(corr);
	if (!__atomic_load_n(&cupti_client.n_kinds, __ATOMIC_ACQUIRE) || cupti_yield_holds() ||
	    __atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
		return;
	l = take_idle();
	if (!l)
		l = take_new();
	if (l)
		put_back(l, LOT_IDLE);
}

/* ---- copying ---- */

void cupti_copy_begin(struct cupti_copy *c)
{
	*c = (struct cupti_copy){ .on = cupti_window_any() };
	if (!c->on)
		return;
	__atomic_fetch_add(&passes, 1, __ATOMIC_ACQ_REL);
	if (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
		cupti_clock_read();
}

static void copy(struct lot *l, const uint8_t *record, size_t size)
{
	uint8_t *to = l->data + l->used;

	memcpy(to, record, size);
	cupti_clock_stamp(to, size);
	l->used += size;
	l->n++;
}

static bool fits(const struct lot *l, size_t size)
{
	return size <= l->size - l->used && (!l->max || l->n < l->max);
}

/*
 * True if a record is the client's.  For kinds that the tracer has enabled, the windows decide; other kinds of the client are all its own.
 * A record of a kind that nobody enabled accompanies another record: it goes where the record before it went.
 */
static bool is_its(struct cupti_copy *c, const uint8_t *record, size_t size)
{
	uint32_t kind = at32(record, 0);

	if (cupti_activity_asked(kind))
		c->last = cupti_window_has(record, size);
	else if (cupti_client_ever_had(kind))
		c->last = true;
	return c->last;
}

static bool give_copy(struct cupti_copy *c, const uint8_t *record, size_t size)
{
	if (!c->lot)
		c->lot = take_idle();
	if (c->lot && !fits(c->lot, size)) {
		hand_over(c->lot);
		c->lot = NULL;
	}
	if (!c->lot)
		c->lot = take_new();
	if (c->lot && fits(c->lot, size)) {
		copy(c->lot, record, size);
		return true;
	}
	/* The buffer is too small for this record: return it.  The record is lost, as with CUPTI. */
	if (c->lot)
		hand_over(c->lot);
	c->lot = NULL;
	cupti_share_add_dropped(1);
	return false;
}

bool cupti_copy_record(struct cupti_copy *c, const uint8_t *record, size_t size)
{
	if (!c->on || !is_its(c, record, size))
		return false;
	if (likely(!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE)))
		return give_copy(c, record, size);
	if (cupti_late_keep(record, size))
		return true;
	cupti_share_add_dropped(1);
	return false;
}

void cupti_copy_end(struct cupti_copy *c)
{
	if (c->lot)
		put_back(c->lot, LOT_IDLE);
	if (c->on)
		__atomic_fetch_sub(&passes, 1, __ATOMIC_ACQ_REL);
}

static void give_late(void *arg, const uint8_t *record, size_t size)
{
	if (!give_copy(arg, record, size))
		cupti_record_release(record, size);
}

/* Delivers the records that arrived after cupti_share_stop(): the client flushes, so its functions may be called. */
static void deliver_late(void)
{
	struct cupti_copy c;

	cupti_copy_begin(&c);
	cupti_late_give(give_late, &c);
	cupti_copy_end(&c);
}

void cupti_share_deliver(bool forced)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	if (__atomic_exchange_n(&stopped, 0, __ATOMIC_ACQ_REL))
		deliver_late();

	while (__atomic_load_n(&passes, __ATOMIC_ACQUIRE) && clock_ns(CLOCK_MONOTONIC) - begin < PASS_WAIT_NS)
		sched_yield();
	for (uint32_t i = 0; i < LOTS; i++) {
		struct lot *l = &lots[i];

		if (__atomic_load_n(&l->state, __ATOMIC_RELAXED) != LOT_IDLE || !claim(l, LOT_IDLE))
			continue;
		if (l->used || forced)
			hand_over(l);
		else
			put_back(l, LOT_IDLE);
	}
}

uint64_t cupti_share_take_dropped(void)
{
	return __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
}

void cupti_share_add_dropped(uint64_t n)
{
	__atomic_fetch_add(&dropped, n, __ATOMIC_RELAXED);
}

void cupti_share_stop(void)
{
	__atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
}

void cupti_share_forget(void)
{
	memset(lots, 0, sizeof lots);
	passes = alert = stopped = 0;
	cupti_late_forget();
	dropped = 0;
	whole_graphs = -1;
}
