#include "inject/client/cupti_window.h"

#include "inject/core/lock.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_layout.h"

#define KINDS   64u
#define EVENTS_ALONE 27u        /* from 12.9 on CUDA event records come only if enabled */
#define WINDOWS 4u      /* per kind; records of older windows have been delivered */

struct client_window {
	int64_t on, off;                /* REALTIME ns; off 0: still open */
	uint32_t first, last;           /* correlation ids of the first call in the window and of the first call after it */
	uint8_t has_first, has_last;
};

static struct client_window windows[KINDS][WINDOWS];
static uint8_t newest[KINDS];           /* 1 + index of the newest window; 0: none */
static uint32_t lock, pending, any;

/*
 * Offsets that are the same in every version; 0: none, since the kind is at offset 0.  Kinds that the tracer does not read have no layout
 * in cupti_layout.c.  Records of kinds not listed here are copied unchanged.
 */
static const struct fields {
	uint8_t corr, times[CUPTI_TIMES];
} fields[KINDS] = {
	[1]  = { 44, { 16, 24 } },                      /* MEMCPY */
	[2]  = { 44, { 16, 24 } },                      /* MEMSET */
	[3]  = { 92, { 16, 24, 32, 120, 128 } },        /* KERNEL: start, end, completed, queued, submitted */
	[4]  = { 32, { 8, 16 } },                       /* DRIVER */
	[5]  = { 32, { 8, 16 } },                       /* RUNTIME */
	[10] = { 92, { 16, 24, 32, 120, 128 } },        /* CONCURRENT_KERNEL */
	[12] = { 0,  { 8 } },                           /* MARKER */
	/* OVERHEAD: only some versions and kinds have a correlation id */
	[17] = { 0,  { 24, 32 } },
	[18] = { 0,  { 8, 16, 96, 104, 112 } },         /* CDP_KERNEL */
	[20] = { 0,  { 8 } },                           /* ENVIRONMENT */
	[22] = { 60, { 16, 24 } },                      /* MEMCPY2 */
	[25] = { 0,  { 16, 24 } },                      /* UNIFIED_MEMORY_COUNTER */
	[33] = { 0,  { 64, 72 } },                      /* OPENACC_DATA, _LAUNCH, _OTHER */
	[34] = { 0,  { 64, 72 } },
	[35] = { 0,  { 64, 72 } },
	[36] = { 4,  { 0 } },                           /* CUDA_EVENT: its time is in the device's clock */
	[38] = { 24, { 8, 16 } },                       /* SYNCHRONIZATION */
	[39] = { 16, { 0 } },                           /* EXTERNAL_CORRELATION */
	[45] = { 0,  { 24, 32 } },                      /* MEMORY */
	[47] = { 0,  { 16, 24 } },                      /* OPENMP */
	[48] = { 32, { 8, 16 } },                       /* INTERNAL_LAUNCH_API */
	[49] = { 12, { 32 } },                          /* MEMORY2 */
	[50] = { 12, { 56 } },                          /* MEMORY_POOL */
	[51] = { 4,  { 8, 16 } },                       /* GRAPH_TRACE */
	[52] = { 32, { 16, 24 } },                      /* JIT */
	[53] = { 0,  { 8, 16 } },                       /* DEVICE_GRAPH_TRACE */
	[54] = { 24, { 48, 56 } },                      /* MEM_DECOMPRESS */
};

void cupti_window_open(uint32_t kind, int64_t now)
{
	struct client_window *w;

	if (kind >= KINDS)
		return;
	lock_take(&lock);
	w = newest[kind] ? &windows[kind][newest[kind] - 1] : NULL;
	if (!w || w->off) {
		newest[kind] = (uint8_t)(newest[kind] % WINDOWS + 1);
		windows[kind][newest[kind] - 1] = (struct client_window){ .on = now };
		__atomic_store_n(&pending, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&any, 1, __ATOMIC_RELEASE);
	}
	lock_give(&lock);
}

void cupti_window_close(uint32_t kind, int64_t now)
{
	struct client_window *w;

	if (kind >= KINDS || !newest[kind])
		return;
	lock_take(&lock);
	w = &windows[kind][newest[kind] - 1];
	if (!w->off) {
		w->off = now;
		__atomic_store_n(&pending, 1, __ATOMIC_RELEASE);
	}
	lock_give(&lock);
}

bool cupti_window_pending(void)
{
	return __atomic_load_n(&pending, __ATOMIC_RELAXED);
}

bool cupti_window_any(void)
{
	return __atomic_load_n(&any, __ATOMIC_ACQUIRE);
}

void cupti_window_begun(uint32_t corr)
{
	lock_take(&lock);
	__atomic_store_n(&pending, 0, __ATOMIC_RELEASE);
	for (uint32_t kind = 0; kind < KINDS; kind++)
		for (uint32_t i = 0; newest[kind] && i < WINDOWS; i++) {
			struct client_window *w = &windows[kind][i];

			if (w->on && !w->has_first) {
				w->first = corr;
				w->has_first = 1;
			}
			if (w->off && !w->has_last) {
				w->last = corr;
				w->has_last = 1;
			}
		}
	lock_give(&lock);
}

/* Correlation ids wrap at 2^32.  Before the first call in a window no work belongs to it. */
static bool has_call(const struct client_window *w, uint32_t corr)
{
	return w->has_first && (int32_t)(corr - w->first) >= 0 && (!w->has_last || (int32_t)(corr - w->last) < 0);
}

static bool has_time(const struct client_window *w, int64_t when)
{
	return when ? when >= w->on && (!w->off || when < w->off) : !w->off;
}

/*
 * The kind whose windows decide for records of `kind`.  CDP_KERNEL comes with the kernel kinds; up to 12.8, CUDA_EVENT comes with
 * SYNCHRONIZATION.
 */
static uint32_t enabled_as(uint32_t kind)
{
	if (kind == KIND_CDP_KERNEL)
		return __atomic_load_n(&newest[KIND_CONCURRENT_KERNEL], __ATOMIC_RELAXED) ? KIND_CONCURRENT_KERNEL : KIND_KERNEL;
	if (kind == KIND_CUDA_EVENT && tracer.version < EVENTS_ALONE && !__atomic_load_n(&newest[kind], __ATOMIC_RELAXED))
		return KIND_SYNC;
	return kind;
}

bool cupti_window_has(const uint8_t *record, size_t size)
{
	uint32_t kind = at32(record, 0), corr = 0, as = enabled_as(kind);
	const struct fields *f = &fields[kind < KINDS ? kind : 0];
	bool has = false;
	int64_t when = 0;

	if (kind >= KINDS || !__atomic_load_n(&newest[as], __ATOMIC_RELAXED))
		return false;
	if (f->corr && f->corr + sizeof corr <= size)
		corr = at32(record, f->corr);
	if (f->times[0] && f->times[0] + sizeof when <= size)
		when = (int64_t)at64(record, f->times[0]);
	lock_take(&lock);
	for (uint32_t i = 0; i < WINDOWS && !has; i++) {
		const struct client_window *w = &windows[as][i];

		/* corr 0 is "none", or an id that has wrapped */
		has = w->on && (corr || (f->corr && !f->times[0]) ? has_call(w, corr) : has_time(w, when));
	}
	lock_give(&lock);
	return has;
}

size_t cupti_record_times(uint32_t kind, size_t size, unsigned offsets[CUPTI_TIMES])
{
	const struct fields *f = &fields[kind < KINDS ? kind : 0];
	size_t n = 0;

	while (n < CUPTI_TIMES && f->times[n] && f->times[n] + sizeof(uint64_t) <= size) {
		offsets[n] = f->times[n];
		n++;
	}
	return n;
}

void cupti_window_forget(void)
{
	__builtin_memset(windows, 0, sizeof windows);
	__builtin_memset(newest, 0, sizeof newest);
	pending = any = lock = 0;
}
