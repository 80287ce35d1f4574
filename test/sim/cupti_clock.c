/*
 * cuptiActivityRegisterTimestampCallback(): records have times of the client's clock.  Both clocks are read at registration and again when
 * a buffer is delivered; times are converted linearly between the two readings, as CUPTI converts times of the GPU.
 *
 * Faults of real releases, unless SIM_IDEAL=1: from 12.6 Update 2 to before 13.1, kernels have no times.  The nth registration damages the
 * times of the next n - 1 kernels.  A context created while CUPTI was attached without such a callback keeps CLOCK_REALTIME.
 */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <stddef.h>
#include <string.h>

#define N_CONTEXTS 64
#define DAMAGE     100000000000000u     /* ns */

static CUpti_TimestampCallbackFunc function;
static uint64_t first_real, first_theirs;
static _Atomic unsigned registrations, damaged;
static bool keeps_realtime[N_CONTEXTS];         /* by context id */

static const struct { uint32_t kind; uint16_t at[4]; uint16_t context;
} times[] = {
	{ CUPTI_ACTIVITY_KIND_KERNEL, { 16, 24, 32 }, 44 }, { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, { 16, 24, 32 }, 44 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, { 16, 24 }, 36 },     { CUPTI_ACTIVITY_KIND_MEMCPY2, { 16, 24 }, 36 },
	{ CUPTI_ACTIVITY_KIND_MEMSET, { 16, 24 }, 36 },     { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, { 8, 16 }, 32 },
	{ CUPTI_ACTIVITY_KIND_DRIVER, { 8, 16 }, 0 },       { CUPTI_ACTIVITY_KIND_RUNTIME, { 8, 16 }, 0 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, { 24, 32 }, 0 },    { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, { 8, 16 }, 0 },
	{ CUPTI_ACTIVITY_KIND_JIT, { 16, 24 }, 0 },         { CUPTI_ACTIVITY_KIND_MEMORY2, { 32 }, 0 },
	{ CUPTI_ACTIVITY_KIND_MEMORY_POOL, { 56 }, 0 },
};

/* Keeps the reading with the shortest interval, which was interrupted least. */
static void read_both(CUpti_TimestampCallbackFunc f, uint64_t *real, uint64_t *theirs)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 9; i++) {
		uint64_t before = cupti_now(), t = f(), took = cupti_now() - before;

		if (took >= best)
			continue;
		best = took;
		*real = before + took / 2;
		*theirs = t;
	}
}

uint64_t clock_now(void)
{
	return function ? function() : cupti_now();
}

void clock_context(uint32_t id)
{
	if (id < N_CONTEXTS)
		keeps_realtime[id] = !function && !fault_none();
}

static bool is_kernel(uint32_t kind)
{
	return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

static bool loses_times(uint32_t kind)
{
	return is_kernel(kind) && !fault_none() && sim_release() >= RELEASE(12, 6, 80) && sim_release() < RELEASE(13, 1, 0);
}

static bool take_damage(uint32_t kind)
{
	if (!is_kernel(kind) || !damaged)
		return false;
	damaged--;
	return true;
}

static bool latched(const uint8_t *record, uint16_t context)
{
	uint32_t id;

	if (!context)
		return false;
	memcpy(&id, record + context, sizeof(id));
	return id < N_CONTEXTS && keeps_realtime[id];
}

/* Converts the times of one record.  real, theirs: the second reading of both clocks. */
static void stamp(uint8_t *record, const uint16_t *at, uint16_t context, uint64_t real, uint64_t theirs)
{
	uint32_t kind = *(uint32_t *)record;
	uint64_t damage = take_damage(kind) ? DAMAGE : 0, t;

	for (int k = 0; k < 4 && at[k]; k++) {
		memcpy(&t, record + at[k], sizeof(t));
		if (!t)
			continue;
		if (loses_times(kind))
			t = 0;
		else if (!latched(record, context))
			t = damage + first_theirs +
			    (uint64_t)(int64_t)((__int128)(int64_t)(theirs - first_theirs) * (int64_t)(t - first_real) /
						(int64_t)(real - first_real));
		memcpy(record + at[k], &t, sizeof(t));
	}
}

void clock_stamp(uint8_t *records, size_t used)
{
	uint64_t real = 0, theirs = 0;
	size_t size;

	if (!function)
		return;
	read_both(function, &real, &theirs);
	if (real <= first_real)
		real = first_real + 1;
	for (size_t at = 0; at < used && (size = record_size(*(uint32_t *)(records + at))); at += size)
		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
			if (times[i].kind == *(uint32_t *)(records + at))
				stamp(records + at, times[i].at, times[i].context, real, theirs);
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f)
{
	CUptiResult rc = cupti_ready(__func__);

	if (rc)
		return rc;
	if (!f)
		return CUPTI_ERROR_INVALID_PARAMETER;
	read_both(f, &first_real, &first_theirs);
	function = f;
	if (registrations++ && !fault_none())
		damaged = registrations - 1;
	return CUPTI_SUCCESS;
}
