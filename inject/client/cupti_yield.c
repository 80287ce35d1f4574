#include "inject/client/cupti_yield.h"

#include <stdio.h>
#include <string.h>

#include "inject/client/cupti_client.h"
#include "inject/client/cupti_clock.h"
#include "inject/client/cupti_share.h"
#include "inject/core/health.h"
#include "inject/core/session.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/cupti/cupti_walk.h"
#include "trace/clock.h"

#define PATIENCE 10u            /* flushes that leave unfinished records alone, before a forced one */

static uint32_t held;                   /* 1: activity is the client's, or on its way back */
static uint32_t out;                    /* buffers of the client that CUPTI has */
static uint32_t flushes;                /* by the flush thread, since the client disabled its last kind */

/* The gaps so far, for the health report. */
static struct {
	int64_t begin, total;           /* REALTIME ns; ns */
	uint32_t n;
	char list[64];                  /* "10.201-10.900 11.002-11.537", seconds since the process began */
	char why[40];                   /* reason, if sharing was impossible; empty: --cupti=yield */
} gap;

bool cupti_yield_holds(void)
{
	return __atomic_load_n(&held, __ATOMIC_ACQUIRE);
}

bool cupti_yield_returning(void)
{
	return cupti_yield_holds() && !__atomic_load_n(&cupti_client.n_kinds, __ATOMIC_ACQUIRE);
}

/* ---- health report ---- */

static double since_start(int64_t realtime)
{
	return (double)(realtime - guest->start) / 1e9;
}

static void gap_begins(void)
{
	gap.begin = clock_ns(CLOCK_REALTIME);
	gap.n++;
	health_restate(HEALTH_cupti_yielded, 1, "%.20s has held CUPTI since %.3f s%s%.40s%s", cupti_client.name,
		       since_start(gap.begin), gap.list[0] ? "; before: " : "", gap.list, gap.why);
}

static void gap_ends(void)
{
	int64_t end = clock_ns(CLOCK_REALTIME);
	size_t n = strlen(gap.list);
	char text[32];

	gap.total += end - gap.begin;
	snprintf(text, sizeof text, "%s%.3f-%.3f", n ? " " : "", since_start(gap.begin), since_start(end));
	if (n + strlen(text) + 4 < sizeof gap.list)
		strcpy(gap.list + n, text);
	else if (n && gap.list[n - 1] != '.')
		strcpy(gap.list + n, " ..");
	health_restate(HEALTH_cupti_yielded, 0, "%.20s, %u times, %.3f s: %s%s", cupti_client.name, gap.n,
		       (double)gap.total / 1e9, gap.list, gap.why);
}

/* ---- handing over ---- */

/*
 * Gets all records of the tracer out of CUPTI.  Where flushing is not allowed, the driver is creating or destroying a context, which has
 * no work.
 */
static void empty(void)
{
	if (!cupti_buffers_out() || !cupti_client_may_flush())
		return;
	tracer.fn.ActivityFlushAll(0);
	if (cupti_buffers_out())
		tracer.fn.ActivityFlushAll(FLUSH_FORCED);
	cupti_activity_dropped();
}

void cupti_yield_because(int kind)
{
	snprintf(gap.why, sizeof gap.why, "; kind %d cannot be shared", kind);
}

void cupti_yield_begin(void)
{
	if (cupti_yield_holds())        /* enabled again before its last buffers were back */
		return;
	cupti_activity_pause();
	if (tracer.state == TRACER_UP) {        /* before, CUPTI has only what the client set */
		empty();
		tracer_set_attribute(ATTRIBUTE_PER_THREAD, cupti_client_per_thread());
		tracer_set_attribute(ATTRIBUTE_ZEROED, !!cupti_client.zeroed);
	}
	__atomic_store_n(&held, 1, __ATOMIC_RELEASE);
	flushes = 0;
	cupti_clock_read();
	if (guest->arena)
		gap_begins();
}

/* ---- taking back ---- */

/* Records dropped until now were the client's: CUPTI's counter restarts when it is read. */
static void keep_dropped(void)
{
	size_t n = 0;

	if (tracer.fn.ActivityGetNumDroppedRecords(NULL, 0, &n) == RESULT_OK)
		cupti_share_add_dropped(n);
}

void cupti_yield_end(void)
{
	if (!cupti_yield_holds() || __atomic_load_n(&out, __ATOMIC_ACQUIRE) || tracer.state != TRACER_UP)
		return;
	keep_dropped();
	tracer_set_attribute(ATTRIBUTE_PER_THREAD, (uint8_t)tracer.per_thread);
	tracer_set_attribute(ATTRIBUTE_ZEROED, 1);
	__atomic_store_n(&held, 0, __ATOMIC_RELEASE);
	cupti_activity_resume();
	gap_ends();
}

/*
 * A running kernel keeps its buffer with CUPTI.  A client that has disabled everything and does not flush does not miss unfinished
 * records, so after PATIENCE tries the flush is forced.
 */
void cupti_yield_flush(void)
{
	tracer.fn.ActivityFlushAll(flushes++ < PATIENCE ? 0 : FLUSH_FORCED);
	cupti_client_try_resume();
}

/* ---- the client's buffers ---- */

void cupti_yield_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	void (*requested)(uint8_t **, size_t *, size_t *) = __atomic_load_n(&cupti_client.requested, __ATOMIC_ACQUIRE);

	*buffer = NULL;
	*size = *max_records = 0;
	if (requested)
		requested(buffer, size, max_records);
	if (*buffer)
		__atomic_fetch_add(&out, 1, __ATOMIC_ACQ_REL);
}

/* Converts the times in a buffer from CUPTI's clock to the client's. */
static void convert(uint8_t *buffer, size_t valid)
{
	struct cupti_walk walk;
	uint8_t *r;
	size_t size;

	if (!cupti_clock_get() || !valid)
		return;
	cupti_clock_read();
	cupti_walk_begin(&walk, buffer, valid);
	while (cupti_walk(&walk, &r, &size))
		cupti_clock_stamp(r, size);
}

void cupti_yield_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t) =
		__atomic_load_n(&cupti_client.completed, __ATOMIC_ACQUIRE);

	if (valid <= size)
		convert(buffer, valid);
	if (completed)
		completed(context, stream, buffer, size, valid);
	__atomic_fetch_sub(&out, 1, __ATOMIC_ACQ_REL);
}

void cupti_yield_forget(void)
{
	held = out = flushes = 0;
	memset(&gap, 0, sizeof gap);
}
