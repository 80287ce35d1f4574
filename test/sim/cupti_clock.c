/*
 * cuptiActivityRegisterTimestampCallback(): records carry the times of the client's clock.  Two readings of both
 * clocks, one when it is registered and one when a buffer goes back, and a line between them, as CUPTI converts the
 * GPU's times.
 */
#include "test/sim/tool.h"

#include <stddef.h>
#include <string.h>

static CUpti_TimestampCallbackFunc function;
static uint64_t first_real, first_theirs;

static const struct { uint32_t kind; uint16_t at[4];
} times[] = {
	{ CUPTI_ACTIVITY_KIND_KERNEL, { 16, 24, 32 } }, { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, { 16, 24, 32 } },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, { 16, 24 } },     { CUPTI_ACTIVITY_KIND_MEMCPY2, { 16, 24 } },
	{ CUPTI_ACTIVITY_KIND_MEMSET, { 16, 24 } },     { CUPTI_ACTIVITY_KIND_DRIVER, { 8, 16 } },
	{ CUPTI_ACTIVITY_KIND_RUNTIME, { 8, 16 } },     { CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, { 8, 16 } },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, { 24, 32 } },   { CUPTI_ACTIVITY_KIND_GRAPH_TRACE, { 8, 16 } },
	{ CUPTI_ACTIVITY_KIND_JIT, { 16, 24 } },        { CUPTI_ACTIVITY_KIND_MEMORY2, { 32 } },
	{ CUPTI_ACTIVITY_KIND_MEMORY_POOL, { 56 } },
};

/* Of several readings the one that was interrupted least. */
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
			for (int k = 0; times[i].kind == *(uint32_t *)(records + at) && k < 4 && times[i].at[k]; k++) {
				uint64_t t;

				memcpy(&t, records + at + times[i].at[k], sizeof(t));
				if (!t)
					continue;
				t = first_theirs +
				    (uint64_t)(int64_t)((__int128)(int64_t)(theirs - first_theirs) *
							(int64_t)(t - first_real) / (int64_t)(real - first_real));
				memcpy(records + at + times[i].at[k], &t, sizeof(t));
			}
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
	return CUPTI_SUCCESS;
}
