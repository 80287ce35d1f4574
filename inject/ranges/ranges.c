#include "inject/ranges/ranges.h"

#include "inject/capture/watch.h"
#include "inject/capture/windows.h"
#include "inject/stacks/stacks.h"

#define NOT_TRACKED (-2)        /* NVTX_NO_PUSH_POP_TRACKING */
/* id of a slot that is being filled, skipped by the collector; real ids have the thread number from bit 40 on */
#define CLAIMED 1u

static struct open_range opened(struct stream *s, const struct range_what *what, uint64_t id, uint32_t tag)
{
	return (struct open_range){
		.id = id,
		.start = clock_now(),
		.payload = what->payload,
		.name = what->name,
		.domain = what->domain,
		.category = what->category,
		.color = what->color,
		.payload_type = what->payload_type,
		.thread = s->thread,
		.step = -1,
		.tag = tag | (capture_nvtx() ? TAG_KEPT : 0),
	};
}

/* Written if any part of the range may lie in a capture window. */
static void write_row(struct stream *s, const struct open_range *r, uint32_t level, uint32_t flags)
{
	struct range_row *row;

	if ((!(r->tag & TAG_KEPT) && !capture_nvtx()) || !(row = stream_reserve(s, ROW_range, sizeof *row)))
		return;
	*row = (struct range_row){
		.start = r->start,
		.duration = clock_now() - r->start,
		.id = r->id,
		.payload = r->payload,
		.thread = r->thread,
		.end_thread = s->thread,
		.domain = r->domain,
		.category = r->category,
		.name = r->name,
		.color = r->color,
		.payload_type = r->payload_type,
		.level = level,
		.flags = flags,
		.step = r->step,
	};
	stream_publish(s, row);
}

static int depth_in(const struct slot *slot, uint32_t depth, uint32_t domain)
{
	int n = 0;

	for (uint32_t i = 0; i < depth; i++)
		n += slot->stack[i].domain == domain;
	return n;
}

static inline uint32_t begins(struct stream *s, const struct range_what *what, uint64_t id, bool started)
{
	uint32_t tag = 0;

	if (likely(!what->watched))
		return 0;
	if (what->watched & ~WATCHED_STACK)
		tag = windows_range_begin(s, what->watched, what->name, id, started);
	/* Before the range's start time is taken. */
	if (what->watched & WATCHED_STACK && capture_nvtx())
		stacks_range(s, id);
	return tag;
}

static inline void ended(struct stream *s, uint32_t tag, bool abandoned)
{
	if (unlikely(tag & ~TAG_KEPT))
		windows_range_end(s, tag, abandoned);
}

int ranges_push(struct stream *s, const struct range_what *what)
{
	struct slot *slot = s->slot;
	uint32_t depth, tag;
	uint64_t id;

	if (unlikely(!slot))
		return NOT_TRACKED;
	depth = slot->depth;
	if (unlikely(depth >= MAX_DEPTH)) {
		s->too_deep++;          /* so that the matching pop ends no other range */
		health_count(HEALTH_too_deep);
		health_drop(ROW_range, 1);
		return NOT_TRACKED;
	}
	id = stream_range_id(s);
	tag = begins(s, what, id, false);
	slot->stack[depth] = opened(s, what, id, tag);
	__atomic_store_n(&slot->depth, depth + 1, __ATOMIC_RELEASE);
	return depth_in(slot, depth, what->domain);
}

const struct open_range *ranges_begin(struct stream *s, const struct range_what *what)
{
	struct slot *slot = s->slot;
	uint32_t depth = slot ? slot->depth : MAX_DEPTH;
	uint64_t id;

	if (unlikely(depth >= MAX_DEPTH)) {
		health_count(HEALTH_too_deep);
		health_drop(ROW_range, 1);
		return NULL;
	}
	id = stream_range_id(s);
	slot->stack[depth] = opened(s, what, id, begins(s, what, id, false));
	__atomic_store_n(&slot->depth, depth + 1, __ATOMIC_RELEASE);
	return &slot->stack[depth];
}

/* Removes entry i; ranges that were pushed later stay open.  A kill during this leaves one range twice, but never invalid data. */
static void take_out(struct slot *slot, uint32_t i)
{
	uint32_t depth = slot->depth;

	for (uint32_t k = i; k + 1 < depth; k++)
		slot->stack[k] = slot->stack[k + 1];
	__atomic_store_n(&slot->depth, depth - 1, __ATOMIC_RELEASE);
}

/* Returns the index on the thread's stack + 1; 0: not found. */
static uint32_t place_of(const struct slot *slot, uint64_t id)
{
	uint32_t i = slot ? slot->depth : 0;

	while (i > 0 && slot->stack[i - 1].id != id)
		i--;
	return i;
}

void ranges_finish(struct stream *s, uint64_t id)
{
	uint32_t place = place_of(s->slot, id), tag;

	if (unlikely(!place))
		return;
	write_row(s, &s->slot->stack[place - 1], place - 1, 0);
	tag = s->slot->stack[place - 1].tag;
	take_out(s->slot, place - 1);
	ended(s, tag, false);
}

void ranges_forget(struct stream *s, uint64_t id)
{
	uint32_t place = place_of(s->slot, id);

	if (place)
		take_out(s->slot, place - 1);
}

void ranges_ended_elsewhere(struct stream *s, const struct open_range *range)
{
	write_row(s, range, 0, RANGE_STARTEND);
	ended(s, range->tag, false);
}

int ranges_pop(struct stream *s, uint32_t domain)
{
	struct slot *slot = s->slot;
	uint32_t i, tag;

	if (unlikely(!slot))
		return NOT_TRACKED;
	if (unlikely(s->too_deep)) {
		s->too_deep--;
		return NOT_TRACKED;
	}
	i = slot->depth;
	while (i > 0 && slot->stack[i - 1].domain != domain)
		i--;
	if (unlikely(i == 0)) {
		health_count(HEALTH_pop_without_push);
		return NOT_TRACKED;
	}
	i--;
	write_row(s, &slot->stack[i], i, 0);
	tag = slot->stack[i].tag;
	take_out(slot, i);
	ended(s, tag, false);
	return depth_in(slot, i, domain);
}

void ranges_abandon(struct stream *s)
{
	struct slot *slot = s->slot;

	if (!slot)
		return;
	while (slot->depth > 0) {
		const struct open_range *r = &slot->stack[slot->depth - 1];

		write_row(s, r, slot->depth - 1, RANGE_INCOMPLETE);
		ended(s, r->tag, true);
		__atomic_store_n(&slot->depth, slot->depth - 1, __ATOMIC_RELEASE);
		health_count(HEALTH_ranges_open);
	}
}

/* Bits 0 to 15: the slot + 1.  Above: 48 bits of the id, which differ between ranges in the same slot. */
static uint64_t handle_of(uint32_t place, uint64_t id)
{
	return ((id ^ id >> 40) & 0xffffffffffff) << 16 | (place + 1);
}

uint64_t ranges_start(struct stream *s, const struct range_what *what)
{
	struct arena *a = guest->arena;
	uint32_t hint = __atomic_fetch_add(&a->next_started, 1, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < MAX_STARTED; i++) {
		uint32_t place = (hint + i) % MAX_STARTED;
		struct open_range *r = &a->started[place];
		uint64_t free = 0;

		if (__atomic_load_n(&r->id, __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&r->id, &free, CLAIMED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;

		uint64_t id = stream_range_id(s);

		*r = opened(s, what, CLAIMED, begins(s, what, id, true));
		__atomic_store_n(&r->id, id, __ATOMIC_RELEASE);
		return handle_of(place, id);
	}
	health_count(HEALTH_too_many_started);
	health_drop(ROW_range, 1);
	return 0;
}

uint64_t ranges_innermost(const struct stream *s, uint32_t domain)
{
	uint32_t i = s->slot && !s->too_deep ? s->slot->depth : 0;

	while (i > 0 && s->slot->stack[i - 1].domain != domain)
		i--;
	return i ? s->slot->stack[i - 1].id : 0;
}

uint64_t ranges_started(uint64_t handle)
{
	uint32_t place = (uint32_t)(handle & 0xffff) - 1;
	uint64_t id = place < MAX_STARTED ? __atomic_load_n(&guest->arena->started[place].id, __ATOMIC_ACQUIRE) : 0;

	return id > CLAIMED && handle_of(place, id) == handle ? id : 0;
}

void ranges_end(struct stream *s, uint64_t handle)
{
	uint32_t place = (uint32_t)(handle & 0xffff) - 1;
	struct open_range *r, copy;
	uint64_t id;

	if (!handle)            /* ranges_start() found no slot and counted it */
		return;
	if (place >= MAX_STARTED)
		goto unknown;
	r = &guest->arena->started[place];
	id = __atomic_load_n(&r->id, __ATOMIC_ACQUIRE);
	if (id <= CLAIMED || handle_of(place, id) != handle)
		goto unknown;
	copy = *r;
	copy.id = id;
	/* Two threads may end the same range by mistake: only one succeeds. */
	if (!__atomic_compare_exchange_n(&r->id, &id, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		goto unknown;
	write_row(s, &copy, 0, RANGE_STARTEND);
	ended(s, copy.tag, false);
	return;
unknown:
	health_count(HEALTH_pop_without_push);
}
