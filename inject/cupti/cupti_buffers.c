#include "inject/cupti/cupti_buffers.h"

#include <string.h>
#include <sys/mman.h>

#include "inject/core/health.h"
#include "inject/core/memory.h"
#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_flush.h"
#include "trace/clock.h"

#define MAX_BUFFERS 4096u

/* Smaller pools are shared by all threads: otherwise a few threads would have all buffers, and the next one none. */
#define FOR_EACH_THREAD 64u

/* 12.9.  In earlier versions refusing a buffer can crash CUPTI. */
#define MAY_REFUSE 27u
#define SPARES 64u

/* Buffers in the pool if the program limits its address space or locks all of its memory. */
#define TIGHT 8u

/* Up to so many idle buffers keep their pages. */
#define KEPT 16u

#define SMALL (64u << 10)       /* bytes: a buffer with less in it always keeps its pages */

static uint8_t *pool;                   /* `limit` buffers, one after the other */
static uint32_t limit;
static uint32_t made;                   /* buffers handed out at least once: 0 .. made - 1 */
static uint32_t out, idle;              /* buffers with CUPTI; buffers that came back */
static uint64_t free_head;              /* tag << 32 | index + 1; the tag changes with each push and pop (ABA) */
static struct note {
	int64_t asked;                  /* REALTIME ns when it was last handed out */
	uint32_t next;                  /* next in the free list: index + 1 */
} *notes;                               /* one per buffer */

/*
 * Small buffers for when the pool is empty, until a flush brings buffers back; each for one thread.  For threads that live for a launch or
 * two, and for CUPTI versions that must not be refused.
 */
struct spare { uint8_t bytes[32 << 10]; };
static struct spare *spares;
static uint64_t spares_taken;           /* bit per spare */

/* Last resort: its records are discarded.  Several threads may write to it at once; then its records cannot even be counted. */
struct discard { uint8_t bytes[256 << 10]; };
static struct discard *discard;
static uint32_t discard_users, discard_shared;

void cupti_buffers_init(uint64_t wanted)
{
	if (pool || !MEMORY_TABLE(notes, MAX_BUFFERS))
		return;
	if (session_room() != UINT64_MAX && wanted > TIGHT)
		wanted = TIGHT;
	limit = wanted < MAX_BUFFERS ? (uint32_t)wanted : MAX_BUFFERS;
	if (!limit)
		limit = 1;
	for (; limit; limit /= 2) {     /* less if the address space is limited */
		void *p = memory_map_file((size_t)limit * CUPTI_BUFFER_SIZE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

		if (p) {
			pool = p;
			return;
		}
	}
}

bool cupti_buffers_for_each_thread(void)
{
	return limit >= FOR_EACH_THREAD;
}

static uint8_t *pop(void)
{
	uint64_t head = __atomic_load_n(&free_head, __ATOMIC_ACQUIRE);

	while ((uint32_t)head) {
		uint32_t i = (uint32_t)head - 1;
		uint64_t next = ((head >> 32) + 1) << 32 | __atomic_load_n(&notes[i].next, __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&free_head, &head, next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
			__atomic_fetch_sub(&idle, 1, __ATOMIC_RELAXED);
			return pool + (size_t)i * CUPTI_BUFFER_SIZE;
		}
	}
	return NULL;
}

static uint8_t *take_buffer(void)
{
	uint8_t *buffer = pop();
	uint32_t i = __atomic_load_n(&made, __ATOMIC_RELAXED);

	if (buffer)
		return buffer;
	while (i < limit)
		if (__atomic_compare_exchange_n(&made, &i, i + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return pool + (size_t)i * CUPTI_BUFFER_SIZE;
	return pop();
}

static uint8_t *take_spare(void)
{
	uint64_t taken = __atomic_load_n(&spares_taken, __ATOMIC_RELAXED);

	while (~taken && MEMORY_TABLE(spares, SPARES)) {
		uint64_t bit = ~taken & (taken + 1);

		if (__atomic_compare_exchange_n(&spares_taken, &taken, taken | bit, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return spares[__builtin_ctzll(bit)].bytes;
	}
	return NULL;
}

static bool is_spare(const uint8_t *buffer)
{
	return spares && buffer >= spares->bytes && buffer < spares[SPARES].bytes;
}

static bool in_pool(const uint8_t *buffer)
{
	return pool && buffer >= pool && buffer < pool + (size_t)limit * CUPTI_BUFFER_SIZE;
}

static uint32_t index_of(const uint8_t *buffer)
{
	return (uint32_t)((size_t)(buffer - pool) / CUPTI_BUFFER_SIZE);
}

void cupti_buffers_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = take_buffer();
	*size = CUPTI_BUFFER_SIZE;
	*max_records = 0;       /* as many as fit */
	if (*buffer) {
		notes[index_of(*buffer)].asked = clock_ns(CLOCK_REALTIME);
	} else {
		cupti_flush_hurry(FLUSH_NOW);
		if (tracer.version < MAY_REFUSE || cupti_buffers_for_each_thread())
			*buffer = take_spare();
		*size = sizeof *spares;
	}
	if (*buffer) {
		/* Idle threads keep their buffers until a flush: flush before the pool is empty. */
		if (__atomic_add_fetch(&out, 1, __ATOMIC_RELAXED) >= limit - limit / 4)
			cupti_flush_hurry(FLUSH_SOON);
		return;
	}
	health_count(HEALTH_buffers_full);
	*size = 0;
	if (tracer.version < MAY_REFUSE && MEMORY_TABLE(discard, 1)) {
		if (__atomic_fetch_add(&discard_users, 1, __ATOMIC_ACQ_REL))
			__atomic_store_n(&discard_shared, 1, __ATOMIC_RELEASE);
		else
			memset(discard, 0, sizeof *discard);
		*buffer = discard->bytes;
		*size = sizeof *discard;
	}
}

bool cupti_buffers_has(const uint8_t *buffer)
{
	return in_pool(buffer) || is_spare(buffer);
}

bool cupti_buffers_gave(const uint8_t *buffer)
{
	return cupti_buffers_has(buffer) || (discard && buffer == discard->bytes);
}

int64_t cupti_buffers_asked(const uint8_t *buffer)
{
	return in_pool(buffer) ? notes[index_of(buffer)].asked : 0;
}

static void push(uint32_t i)
{
	uint64_t head = __atomic_load_n(&free_head, __ATOMIC_RELAXED);
	uint64_t next;

	do {
		__atomic_store_n(&notes[i].next, (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | (i + 1);
	} while (!__atomic_compare_exchange_n(&free_head, &head, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	__atomic_fetch_add(&idle, 1, __ATOMIC_RELAXED);
}

/* Claims all buffers never handed out at once; the first TIGHT of them become free, the rest is unmapped. */
void cupti_buffers_tighten(void)
{
	uint32_t i = __atomic_load_n(&made, __ATOMIC_RELAXED);

	do {
		if (!pool || i >= limit)
			return;
	} while (!__atomic_compare_exchange_n(&made, &i, limit, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	for (; i < TIGHT && i < limit; i++)
		push(i);
	if (i < limit)
		memory_unmap(pool + (size_t)i * CUPTI_BUFFER_SIZE, (size_t)(limit - i) * CUPTI_BUFFER_SIZE);
}

/* Zeroes the used bytes; after a burst by returning the pages to the system.  Locked pages cannot be returned. */
static void clear(uint8_t *buffer, size_t used)
{
	if (used > SMALL && __atomic_load_n(&idle, __ATOMIC_RELAXED) >= KEPT && seccomp_allows(SECCOMP_MEMORY) &&
	    madvise(buffer, used, MADV_DONTNEED) == 0)
		return;
	memset(buffer, 0, used);
}

void cupti_buffers_return(uint8_t *buffer, size_t valid)
{
	__atomic_fetch_sub(&out, 1, __ATOMIC_RELAXED);
	clear(buffer, valid);
	if (is_spare(buffer)) {
		__atomic_fetch_and(&spares_taken, ~(1ull << ((size_t)(buffer - spares->bytes) / sizeof *spares)), __ATOMIC_RELEASE);
		return;
	}
	push(index_of(buffer));
}

bool cupti_buffers_discard(const uint8_t *buffer)
{
	bool alone = !__atomic_load_n(&discard_shared, __ATOMIC_ACQUIRE);

	if (!discard || buffer != discard->bytes)
		return false;
	if (__atomic_sub_fetch(&discard_users, 1, __ATOMIC_ACQ_REL) == 0)
		__atomic_store_n(&discard_shared, 0, __ATOMIC_RELEASE);
	return alone;
}

uint32_t cupti_buffers_out(void)
{
	return __atomic_load_n(&out, __ATOMIC_RELAXED);
}

void cupti_buffers_forget(void)
{
	out = idle = 0;
	made = 0;
	free_head = 0;
	pool = NULL;
	limit = 0;
	discard_users = discard_shared = 0;
	spares_taken = 0;
}
