#include "inject/cupti/cupti_unified.h"

#include "inject/core/health.h"
#include "inject/core/session.h"
#include "inject/core/stream.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_activity.h"

#define ALL_DEVICES 2           /* CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES */
#define MOST 8

/* Counters to enable; returns their number.  all false: without the counters that some versions and platforms lack, for a second try. */
static uint32_t list(struct cupti_unified_config counters[MOST], bool all)
{
	const struct config *c = &guest->config;
	const struct {
		int kind;
		bool wanted;
	} kinds[MOST] = {
		{ UNIFIED_HTOD, true }, { UNIFIED_DTOH, true }, { UNIFIED_CPU_FAULT, c->um_cpu_faults },
		{ UNIFIED_GPU_FAULT, c->um_gpu_faults }, { UNIFIED_THRASHING, all }, { UNIFIED_THROTTLING, all },
		{ UNIFIED_REMOTE_MAP, all }, { UNIFIED_DTOD, all },
	};
	uint32_t n = 0;

	for (size_t i = 0; i < MOST; i++)
		if (kinds[i].wanted)
			counters[n++] = (struct cupti_unified_config){ .scope = ALL_DEVICES, .kind = kinds[i].kind, .enable = 1 };
	return n;
}

static int configure(void)
{
	struct cupti_unified_config counters[MOST];
	int result = tracer.fn.ActivityConfigureUnifiedMemoryCounter(counters, list(counters, true));

	if (result == RESULT_INVALID_PARAMETER)
		result = tracer.fn.ActivityConfigureUnifiedMemoryCounter(counters, list(counters, false));
	return result;
}

static void refused(int result)
{
	const char *why = result == RESULT_UNIFIED_PLATFORM ? ": not supported on this platform (as on ARM)" :
			  result == RESULT_UNIFIED_DEVICE   ? ": not supported on this GPU" :
			  result == RESULT_UNIFIED_NO_PEER  ? ": not supported where GPUs cannot access each other's memory" :
			  result == RESULT_UNIFIED_MPS	    ? ": not supported under MPS" :
			  result == RESULT_NOT_INITIALIZED  ? ": not supported with this driver" : "";

	health_note(HEALTH_cupti_kind, "UNIFIED_MEMORY_COUNTER: CUPTI error %d%s", result, why);
}

void cupti_unified_start(bool last)
{
	int result;

	if ((!guest->config.um_cpu_faults && !guest->config.um_gpu_faults) ||
	    __atomic_exchange_n(&tracer.unified, 1, __ATOMIC_ACQ_REL))
		return;
	if (!tracer.fn.ActivityConfigureUnifiedMemoryCounter) {
		health_note(HEALTH_cupti_kind, "UNIFIED_MEMORY_COUNTER: libcupti lacks cuptiActivityConfigureUnifiedMemoryCounter");
		return;
	}
	result = configure();
	if (result == RESULT_NOT_INITIALIZED && !last) {
		__atomic_store_n(&tracer.unified, 0, __ATOMIC_RELEASE);
		return;
	}
	if (result == RESULT_OK)
		result = cupti_activity_switch_on(KIND_UNIFIED);
	if (result != RESULT_OK)
		refused(result);
}

void cupti_unified_value(struct unified_row *row, const uint8_t *r)
{
	const struct unified_layout *l = &tracer.layout.unified;
	uint64_t value = at64(r, UNIFIED_VALUE);
	uint32_t flags = at32(r, UNIFIED_FLAGS);

	switch (row->kind) {
	case UNIFIED_HTOD:
	case UNIFIED_DTOH:
	case UNIFIED_DTOD:
	case UNIFIED_REMOTE_MAP:
		row->bytes = value;
		row->source = at32(r, UNIFIED_SOURCE);
		row->target = at32(r, UNIFIED_TARGET);
		row->cause = flags;
		break;
	case UNIFIED_CPU_FAULT:
		row->pc = value;
		row->access = flags;
		break;
	case UNIFIED_GPU_FAULT:
		row->faults = (uint32_t)value;
		row->source = at32(r, UNIFIED_SOURCE);
		row->access = flags;
		break;
	case UNIFIED_THRASHING:
		row->bytes = value;
		row->devices = l->processors ? at64(r, l->processors) : at32(r, UNIFIED_SOURCE);
		row->flags = flags & 1;
		break;
	case UNIFIED_THROTTLING:
		row->source = at32(r, UNIFIED_SOURCE);
		row->flags = flags & 1;
		break;
	}
}
