#include "inject/core/stream.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/core/memory.h"
#include "inject/core/module.h"
#include "inject/core/seccomp.h"
#include "inject/core/self.h"
#include "inject/ranges/ranges.h"
#include "inject/stacks/sample.h"

__thread struct stream stream_self;

/* The block of a stream that has none: no row fits into it. */
static struct block no_block;

static pthread_key_t at_thread_end;
static bool has_key;

static struct block *take_from(struct arena *a, uint32_t first, uint32_t end)
{
	/* Lowest first: the blocks in use stay few and cached, and memory of higher blocks is never touched. */
	for (uint32_t i = first; i < end; i++) {
		uint32_t free = BLOCK_FREE;

		if (__atomic_load_n(&a->block_state[i], __ATOMIC_RELAXED) == BLOCK_FREE &&
		    __atomic_compare_exchange_n(&a->block_state[i], &free, BLOCK_OWNED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			struct block *b = arena_block(a, i);

			b->index = i;
			b->cap = (i < a->n_small ? SMALL_BLOCK : LARGE_BLOCK) - (uint32_t)sizeof *b;
			__atomic_fetch_add(&a->n_taken, 1, __ATOMIC_RELAXED);
			return b;
		}
	}
	return NULL;
}

/* API rows and marks may not use the last eighth of the arena, so that GPU rows and definitions are dropped last. */
static bool may_take(const struct arena *a, unsigned kind)
{
	uint32_t all = a->n_small + a->n_large - guest->gone;
	uint32_t taken = __atomic_load_n(&a->n_taken, __ATOMIC_RELAXED);

	return taken < (kind == ROW_api || kind == ROW_mark ? all - all / 8 : all);
}

/* Keeps the block of an ended thread for the next thread: many short threads would use up blocks faster than the collector frees them. */
static bool park(const struct block *b)
{
	if (b == &no_block || b->used > b->cap / 2)
		return false;
	for (int i = 0; i < PARKED; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&guest->parked[i], &none, b->index + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static struct block *take_parked(struct arena *a)
{
	for (int i = 0; i < PARKED; i++) {
		uint32_t n = __atomic_load_n(&guest->parked[i], __ATOMIC_RELAXED);

		if (n && (n = __atomic_exchange_n(&guest->parked[i], 0, __ATOMIC_ACQUIRE)))
			return arena_block(a, n - 1);
	}
	return NULL;
}

static struct block *take_block(struct stream *s, unsigned kind, bool large)
{
	struct arena *a = guest->arena;
	uint32_t all = a->n_small + a->n_large;
	struct block *b = large ? NULL : take_parked(a);

	if (!b && !may_take(a, kind))
		return NULL;
	if (large)
		b = take_from(a, a->n_small, all);
	if (!b)
		b = take_from(a, 0, a->n_small);
	if (!b)
		b = take_from(a, a->n_small, all);
	if (!b)
		return NULL;
	b->thread = s->thread;
	__atomic_store_n(&a->last_time, clock_now(), __ATOMIC_RELAXED);
	return b;
}

/* Unmaps blocks first to end - 1 with one call. */
static void unmap_run(struct arena *a, uint32_t first, uint32_t end)
{
	if (first < end)
		memory_unmap(arena_block(a, first), (size_t)((char *)arena_block(a, end) - (char *)arena_block(a, first)));
}

void stream_tighten(uint64_t most)
{
	struct arena *a = guest->arena;
	uint32_t i = a ? a->n_small + a->n_large : 0, end = i;

	for (; i > 0 && (uint64_t)((char *)arena_block(a, i) - (char *)a) > most; i--) {
		uint32_t free = BLOCK_FREE;

		if (__atomic_compare_exchange_n(&a->block_state[i - 1], &free, BLOCK_GONE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&guest->gone, 1, __ATOMIC_RELAXED);
			continue;
		}
		unmap_run(a, i, end);
		end = i - 1;
	}
	unmap_run(a, i, end);
}

#define SLOTS_LEFT 64u                  /* free slots that are kept for new threads */
#define PAGE       4096u

/* Slots are taken from the lowest up: a thread that starts at this moment takes one that is kept. */
void stream_tighten_slots(void)
{
	struct arena *a = guest->arena;
	uint32_t n = a ? MAX_SLOTS - guest->slots_gone : 0;
	char *from, *to;

	/* Slots above the number of threads so far were never taken; looking there would touch their memory. */
	while (n > 0 && (n > __atomic_load_n(&a->next_thread, __ATOMIC_ACQUIRE) ||
			 !__atomic_load_n(&a->slots[n - 1].owner, __ATOMIC_ACQUIRE)))
		n--;
	if (!a || n + SLOTS_LEFT >= MAX_SLOTS - guest->slots_gone)
		return;
	n += SLOTS_LEFT;
	__atomic_store_n(&guest->slots_gone, MAX_SLOTS - n, __ATOMIC_RELEASE);
	from = (char *)(((uintptr_t)&a->slots[n] + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	to = (char *)arena_block(a, 0);
	memory_unmap(from, (size_t)(to - from));
}

static void hand_over(struct block *b)
{
	if (b == &no_block)
		return;
	b->turn = __atomic_fetch_add(&guest->arena->turns, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&guest->arena->block_state[b->index], BLOCK_FULL, __ATOMIC_RELEASE);
	session_ring();
}

struct block *stream_next_block(struct stream *s, unsigned kind, size_t size)
{
	struct block *old = s->block;
	struct block *b = take_block(s, kind, old != &no_block);

	if (b && b->used + size <= b->cap) {
		/* In this order: if the thread ends in between, it must not park a block that the collector has. */
		s->block = b;
		hand_over(old);
		return b;
	}
	if (b)
		hand_over(b);   /* the row is larger than a block: keep the old block for rows that fit */
	health_count(HEALTH_no_block);
	health_drop(kind, 1);
	return NULL;
}

/* By slot: the program has named the thread (stream_name_thread()). */
static uint8_t named[MAX_SLOTS];

/* Takes a slot for open ranges, in the arena, where it survives a kill.  If none is free, a private one; NULL without memory. */
static struct slot *take_slot(struct arena *a, uint32_t thread)
{
	for (uint32_t i = 0; i < MAX_SLOTS - guest->slots_gone; i++) {
		uint32_t free = 0;

		if (!__atomic_load_n(&a->slots[i].owner, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&a->slots[i].owner, &free, thread, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_store_n(&named[i], 0, __ATOMIC_RELAXED);
			return &a->slots[i];
		}
	}
	health_count(HEALTH_no_slot);
	return memory_map(sizeof(struct slot));
}

static void give_slot(struct arena *a, struct slot *slot)
{
	if (!slot)
		return;
	if (slot < a->slots || slot >= a->slots + MAX_SLOTS) {
		memory_unmap(slot, sizeof *slot);
		return;
	}
	slot->tid = 0;
	__atomic_store_n(&slot->depth, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
}

static void describe_thread(struct stream *s, uint32_t id, uint32_t tid, const char *name, size_t n)
{
	struct thread_row *row = stream_reserve(s, ROW_thread, stream_tail(sizeof *row, n));

	if (!row)
		return;
	*row = (struct thread_row){ .start = clock_now(), .id = id, .tid = tid, .flags = s->tool, .bytes = (uint32_t)n };
	memcpy(row + 1, name, n);
	stream_publish(s, row);
}

void stream_name_thread(struct stream *s, uint32_t tid, const char *name, size_t n)
{
	struct arena *a = guest->arena;

	for (uint32_t i = 0; i < MAX_SLOTS - guest->slots_gone; i++) {
		struct slot *slot = &a->slots[i];
		uint32_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);

		if (owner && slot->tid == tid) {
			__atomic_store_n(&named[i], 1, __ATOMIC_RELAXED);
			describe_thread(s, owner, tid, name, n);
		}
	}
}

static bool is_named(const struct slot *slot)
{
	const struct slot *all = guest->arena->slots;

	return slot >= all && slot < all + MAX_SLOTS && __atomic_load_n(&named[slot - all], __ATOMIC_RELAXED);
}

void stream_follow_name(struct stream *s, char known[THREAD_NAME])
{
	char name[THREAD_NAME + 1] = "";

	if (!seccomp_allows(SECCOMP_THREAD) || is_named(s->slot) || prctl(PR_GET_NAME, name) < 0 || strcmp(name, known) == 0)
		return;
	if (*known)
		describe_thread(s, s->thread, s->slot ? (uint32_t)s->slot->tid : self_id(), name, strlen(name));
	memcpy(known, name, THREAD_NAME);
}

bool stream_attach(struct stream *s)
{
	char name[17] = "";
	int saved = errno;
	struct arena *a;
	uint32_t tid;

	if (!session_connect())
		return false;
	a = guest->arena;
	tid = seccomp_allows(SECCOMP_THREAD) ? self_ask() : self_id();
	s->thread = __atomic_add_fetch(&a->next_thread, 1, __ATOMIC_RELAXED);
	s->sequence = 0;
	s->too_deep = 0;
	/* `scratch` stays: it is in use when a row inside a CUDA call is the first row of its thread. */
	s->block = &no_block;
	s->slot = take_slot(a, s->thread);
	if (s->slot)
		s->slot->tid = tid;
	s->epoch = guest->epoch;
	if (has_key)
		pthread_setspecific(at_thread_end, s);
	if (seccomp_allows(SECCOMP_THREAD))
		prctl(PR_GET_NAME, name);
	describe_thread(s, s->thread, tid, name, strlen(name));
	sample_thread_begins(s);
	errno = saved;
	return true;
}

static void thread_ends(void *arg)
{
	struct stream *s = arg;

	/* A forked child's main thread inherits the key of the thread that forked; its stream is of another epoch. */
	if (s != &stream_self || !s->epoch || s->epoch != guest->epoch)
		return;
	sample_thread_ends(s);
	s->busy = 1;
	ranges_abandon(s);
	if (!park(s->block))
		hand_over(s->block);
	give_slot(guest->arena, s->slot);
	s->epoch = 0;
	s->busy = 0;
}

void stream_tool_thread(void)
{
	stream_self.tool = 1;
}

static void init(void)
{
	has_key = pthread_key_create(&at_thread_end, thread_ends) == 0;
}

/* At a clean end, stores the process's last moment, which the collector otherwise estimates. */
static void stop(void)
{
	struct arena *a = guest->arena;

	if (a)
		__atomic_store_n(&a->last_time, clock_now(), __ATOMIC_RELAXED);
}

/* Only the forking thread exists in the child.  It may have forked inside a hook, from a signal handler. */
static void forked(void)
{
	stream_self.busy = 0;
	stream_self.scratch = 0;
	stream_self.epoch = 0;
}

const struct module stream_module = { .init = init, .stop = stop, .forked = forked };
