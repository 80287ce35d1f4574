#include "inject/cupti_yield.h"

#include <stdio.h>
#include <string.h>

#include "inject/cupti.h"
#include "inject/cupti_activity.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_client.h"
#include "inject/cupti_clock.h"
#include "inject/cupti_share.h"
#include "inject/health.h"
#include "inject/session.h"
#include "trace/clock.h"

#define PATIENCE 10u            /* flushes of ours that leave unfinished records alone, before one that does not */

static uint32_t held;                   /* activity is its, or on its way back */
static uint32_t out;                    /* buffers of its that CUPTI has */
static uint32_t flushes;                /* ours, since it disabled its last kind */
static bool its_clock;                  /* CUPTI was given its clock */

/* The gaps so far, for people. */
static struct {
	int64_t begin, total;           /* REALTIME ns; ns */
	uint32_t n;
	char list[64];                  /* "10.201-10.900 11.002-11.537", seconds since the process began */
} gap;

bool cupti_yield_holds(void)
{
	return __atomic_load_n(&held, __ATOMIC_ACQUIRE);
}

bool cupti_yield_returning(void)
{
	return cupti_yield_holds() && !__atomic_load_n(&cupti_client.n_kinds, __ATOMIC_ACQUIRE);
}

/* ---- what is said about it ---- */

static double since_start(int64_t realtime)
{
	return (double)(realtime - guest->start) / 1e9;
}

static void gap_begins(void)
{
	gap.begin = clock_ns(CLOCK_REALTIME);
	gap.n++;
	health_restate(HEALTH_cupti_yielded, 1, "%.20s, from %.3f s on; it has not ended%s%.40s", cupti_client.name,
		       since_start(gap.begin), gap.list[0] ? "; before: " : "", gap.list);
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
	health_restate(HEALTH_cupti_yielded, 0, "%.20s, %u times, %.3f s: %s", cupti_client.name, gap.n,
		       (double)gap.total / 1e9, gap.list);
}

/* ---- handing over ---- */

/*
 * Everything of ours out of CUPTI.  Where flushing is not allowed the driver makes or ends a context, which has no work
 * yet.
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

static void for_each_thread(bool wanted)
{
	uint8_t each = wanted;
	size_t size = sizeof each;

	if (tracer.state == TRACER_UP && tracer.fn.ActivitySetAttribute)
		tracer.fn.ActivitySetAttribute(ATTRIBUTE_PER_THREAD, &size, &each);
}

void cupti_yield_begin(void)
{
	if (cupti_yield_holds())        /* again, before its last buffers were back */
		return;
	cupti_activity_pause();
	if (tracer.state == TRACER_UP)
		empty();
	for_each_thread(cupti_client_per_thread());
	__atomic_store_n(&held, 1, __ATOMIC_RELEASE);
	flushes = 0;
	if (cupti_clock_get())
		cupti_yield_clock();
	if (guest->arena)
		gap_begins();
}

/* ---- and taking back ---- */

static uint64_t realtime(void)
{
	return (uint64_t)clock_ns(CLOCK_REALTIME);
}

int cupti_yield_clock(void)
{
	int result = RESULT_UNKNOWN;

	if (tracer.fn.ActivityRegisterTimestampCallback)
		result = tracer.fn.ActivityRegisterTimestampCallback(cupti_clock_get());
	its_clock |= result == RESULT_OK;
	return result;
}

/* CUPTI counts for whoever asks first; these are for it. */
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
	/* There is no way back to CUPTI's own clock but one that reads the same. */
	if (its_clock)
		tracer.fn.ActivityRegisterTimestampCallback(realtime);
	its_clock = false;
	keep_dropped();
	for_each_thread(tracer.per_thread);
	__atomic_store_n(&held, 0, __ATOMIC_RELEASE);
	cupti_activity_resume();
	gap_ends();
}

/*
 * A kernel that still runs keeps its buffer with CUPTI; a profiler that does not flush after it has disabled everything
 * would not miss it.
 */
void cupti_yield_flush(void)
{
	tracer.fn.ActivityFlushAll(flushes++ < PATIENCE ? 0 : FLUSH_FORCED);
	cupti_client_try_resume();
}

/* ---- its buffers ---- */

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

void cupti_yield_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t) =
		__atomic_load_n(&cupti_client.completed, __ATOMIC_ACQUIRE);

	if (completed)
		completed(context, stream, buffer, size, valid);
	__atomic_fetch_sub(&out, 1, __ATOMIC_ACQ_REL);
}

void cupti_yield_forget(void)
{
	held = out = flushes = 0;
	its_clock = false;
	memset(&gap, 0, sizeof gap);
}
