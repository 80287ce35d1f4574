#include "inject/cupti_buffers.h"

#include <sys/mman.h>

#include "inject/cupti.h"
#include "inject/cupti_flush.h"
#include "inject/health.h"
#include "trace/clock.h"

#define MAX_BUFFERS 4096u

/* Fewer than these are not for one a thread: a few threads would have them all, and the next one nothing. */
#define FOR_EACH_THREAD 64u

/* 12.9: before it, refusing a buffer could crash CUPTI. */
#define MAY_REFUSE 27u
#define SPARES 64u

static uint8_t *pool;                   /* `limit` buffers, one after the other */
static uint32_t limit;
static uint32_t made;                   /* buffers handed out at least once: 0 .. made - 1 */
static uint32_t out;
static uint64_t free_head;              /* tag << 32 | index + 1; the tag makes a head that came back a different one */
static uint32_t free_next[MAX_BUFFERS];
static int64_t asked[MAX_BUFFERS];      /* when each was handed out last */

/* For a CUPTI that may not be refused, when the pool is empty: small ones, each still one thread's own. */
static uint8_t spares[SPARES][32 << 10] __attribute__((aligned(64)));
static uint64_t spares_taken;           /* bits */

/* The last resort, filled for nothing.  Several threads may scribble in it at once; then not even its records can be counted. */
static uint8_t discard[256 << 10] __attribute__((aligned(64)));
static uint32_t discard_users, discard_shared;

void cupti_buffers_init(uint64_t wanted)
{
	if (pool)
		return;
	limit = wanted < MAX_BUFFERS ? (uint32_t)wanted : MAX_BUFFERS;
	if (!limit)
		limit = 1;
	for (; limit; limit /= 2) {     /* a limit on address space leaves less */
		void *p = mmap(NULL, (size_t)limit * CUPTI_BUFFER_SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p != MAP_FAILED) {
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
		uint64_t next = ((head >> 32) + 1) << 32 | __atomic_load_n(&free_next[i], __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&free_head, &head, next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return pool + (size_t)i * CUPTI_BUFFER_SIZE;
	}
	return NULL;
}

static uint8_t *take(void)
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

	while (~taken) {
		uint64_t bit = ~taken & (taken + 1);

		if (__atomic_compare_exchange_n(&spares_taken, &taken, taken | bit, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return spares[__builtin_ctzll(bit)];
	}
	return NULL;
}

static bool is_spare(const uint8_t *buffer)
{
	return buffer >= spares[0] && buffer < spares[0] + sizeof spares;
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
	*buffer = take();
	*size = CUPTI_BUFFER_SIZE;
	*max_records = 0;       /* as many as fit */
	if (*buffer) {
		asked[index_of(*buffer)] = clock_ns(CLOCK_REALTIME);
	} else if (tracer.version < MAY_REFUSE) {
		*buffer = take_spare();
		*size = sizeof spares[0];
	}
	if (*buffer) {
		/* Threads that have fallen silent hold theirs until a flush: one in time leaves some for the others. */
		if (__atomic_add_fetch(&out, 1, __ATOMIC_RELAXED) == limit - limit / 4)
			cupti_flush_soon();
		return;
	}
	health_count(HEALTH_buffers_full);
	*size = 0;
	if (tracer.version < MAY_REFUSE) {
		if (__atomic_fetch_add(&discard_users, 1, __ATOMIC_ACQ_REL))
			__atomic_store_n(&discard_shared, 1, __ATOMIC_RELEASE);
		*buffer = discard;
		*size = sizeof discard;
	}
}

bool cupti_buffers_has(const uint8_t *buffer)
{
	return in_pool(buffer) || is_spare(buffer);
}

bool cupti_buffers_gave(const uint8_t *buffer)
{
	return cupti_buffers_has(buffer) || buffer == discard;
}

int64_t cupti_buffers_asked(const uint8_t *buffer)
{
	return in_pool(buffer) ? asked[index_of(buffer)] : 0;
}

void cupti_buffers_return(uint8_t *buffer)
{
	uint64_t head = __atomic_load_n(&free_head, __ATOMIC_RELAXED);
	uint64_t next;
	uint32_t i;

	__atomic_fetch_sub(&out, 1, __ATOMIC_RELAXED);
	if (is_spare(buffer)) {
		__atomic_fetch_and(&spares_taken, ~(1ull << ((size_t)(buffer - spares[0]) / sizeof spares[0])), __ATOMIC_RELEASE);
		return;
	}
	i = index_of(buffer);
	do {
		__atomic_store_n(&free_next[i], (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | (i + 1);
	} while (!__atomic_compare_exchange_n(&free_head, &head, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

bool cupti_buffers_discard(const uint8_t *buffer)
{
	bool alone = !__atomic_load_n(&discard_shared, __ATOMIC_ACQUIRE);

	if (buffer != discard)
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
	out = 0;
	made = 0;
	free_head = 0;
	pool = NULL;
	limit = 0;
	discard_users = discard_shared = 0;
	spares_taken = 0;
}
