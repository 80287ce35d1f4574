#include "inject/core/carrier_frames.h"

#include <string.h>

#include "inject/core/session.h"

/* The header is compared and sent in pieces of this many bytes, the size of a health cell. */
#define PIECE 128u

/* STARTED_END: begin of the tables that are sent as changed pieces.  STATE: bytes from `life` to `costs`, which must fit in one frame. */
#define STARTED_END (offsetof(struct arena, started) + sizeof ((struct arena *)0)->started)
#define STATE       (offsetof(struct arena, costs) - offsetof(struct arena, life))

_Static_assert(STATE <= FRAME_ROOM && STATE % 8 == 0, "whole words, in one frame");
_Static_assert(offsetof(struct arena, block_state) % 8 == 0, "whole words");

/*
 * Most attempts at a look during which no block is handed over.  A busy program hands one over every half millisecond; a look takes
 * microseconds.
 */
#define LOOKS 1000

static uint32_t cap_of(const struct carrier *c, uint32_t i)
{
	return (i < c->arena->n_small ? SMALL_BLOCK : LARGE_BLOCK) - (uint32_t)sizeof(struct block);
}

/* ---- finding blocks to send ---- */

static void find(struct carrier *c, uint32_t i, uint32_t state)
{
	struct block *b = arena_block(c->arena, i);
	uint32_t used = __atomic_load_n(&b->used, __ATOMIC_ACQUIRE);

	/* The program overwrote the block: do not believe it, send nothing of it. */
	if (used > cap_of(c, i) || used % 8)
		used = b->drained;
	c->found[c->n_found++] = (struct found_block){
		.index = i, .limit = used, .turn = b->turn, .full = state == BLOCK_FULL
	};
}

/*
 * Collects full blocks; all: also blocks in use.  Blocks handed over after `turns` was read wait for the next round: an earlier block of
 * the same thread may have been in use when this look passed it.  Returns `turns`.
 */
static uint32_t collect_blocks(struct carrier *c, bool all)
{
	const struct arena *a = c->arena;
	uint32_t turns = __atomic_load_n(&a->turns, __ATOMIC_ACQUIRE);
	uint32_t left = turns - c->given_back;  /* handed over and not sent */

	c->n_found = 0;
	for (uint32_t i = 0; i < c->n_blocks && (all || left); i++) {
		uint32_t state = __atomic_load_n(&a->block_state[i], __ATOMIC_ACQUIRE);

		if (state == BLOCK_OWNED ? !all : state != BLOCK_FULL)
			continue;
		if (!all && (int32_t)(arena_block(c->arena, i)->turn - turns) >= 0)
			continue;
		find(c, i, state);
		left -= state == BLOCK_FULL;
	}
	return turns;
}

/*
 * True if no block was handed over during the look that began at `turns`.  Otherwise a thread may have taken a free block that the look
 * had passed, and then a block that the look found: its rows would be sent without the earlier ones.
 */
static bool stood_still(const struct carrier *c, uint32_t turns)
{
	for (uint32_t k = 0; k < c->n_found; k++)
		if (!c->found[k].full &&
		    __atomic_load_n(&c->arena->block_state[c->found[k].index], __ATOMIC_ACQUIRE) != BLOCK_OWNED)
			return false;
	return __atomic_load_n(&c->arena->turns, __ATOMIC_ACQUIRE) == turns;
}

static bool before(const struct found_block *x, const struct found_block *y)
{
	if (x->full != y->full)
		return x->full;
	return x->full && (int32_t)(x->turn - y->turn) < 0;
}

/* Insertion sort: the blocks are nearly in order.  Full blocks first, in hand-over order. */
static void put_in_order(struct carrier *c)
{
	for (uint32_t k = 1; k < c->n_found; k++) {
		struct found_block one = c->found[k];
		uint32_t at = k;

		for (; at > 0 && before(&one, &c->found[at - 1]); at--)
			c->found[at] = c->found[at - 1];
		c->found[at] = one;
	}
}

/* Collects the blocks of this round, in sending order.  False: blocks kept being handed over, so only full blocks were collected. */
static bool gather(struct carrier *c, bool all)
{
	bool got = true;
	uint32_t turns;
	int looks = 0;

	do
		turns = collect_blocks(c, all);
	while (all && !(got = stood_still(c, turns)) && ++looks < LOOKS);
	if (!got)
		collect_blocks(c, false);
	put_in_order(c);
	return got;
}

/* ---- cells of the header ---- */

/* Sends n bytes of `from` as the arena's bytes at offset `place`. */
static bool send_cells(struct carrier *c, size_t place, const void *from, uint32_t n)
{
	c->out.head.place = (uint32_t)place;
	memcpy(c->out.body, from, n);
	return carrier_put(c, FRAME_CELLS, 0, n);
}

/* Sends the pieces between two offsets of the arena that differ from the collector's copy. */
static bool send_changes(struct carrier *c, size_t at, size_t end, size_t piece)
{
	const char *now = (const char *)c->arena;
	char *sent = (char *)c->sent_header;

	for (size_t n; at < end; at += n) {
		n = end - at < piece ? end - at : piece;
		if (memcmp(now + at, sent + at, n) == 0)
			continue;
		if (!send_cells(c, at, now + at, (uint32_t)n))
			return false;
		memcpy(sent + at, c->out.body, n);
	}
	return true;
}

static uint32_t one_frame(size_t n)
{
	return n < FRAME_ROOM ? (uint32_t)n : FRAME_ROOM;
}

static bool same_slot(const struct slot *s, const struct slot *sent, uint32_t depth)
{
	if (s->tid != sent->tid || depth != sent->depth)
		return false;
	for (uint32_t i = 0; i < depth; i++)
		if (__atomic_load_n(&s->stack[i].id, __ATOMIC_RELAXED) != sent->stack[i].id)
			return false;
	return true;
}

/*
 * Copies open ranges while the owner pushes and pops.  The owner lowers depth before it rewrites an entry, and gives it a new id: an entry
 * with the same id before and after the copy, below depth, is whole.  Returns the number of whole entries, from the bottom.
 */
static uint32_t copy_stack(struct open_range *to, const struct slot *s, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++) {
		uint64_t id = __atomic_load_n(&s->stack[i].id, __ATOMIC_RELAXED);

		to[i] = s->stack[i];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&s->depth, __ATOMIC_RELAXED) <= i || to[i].id != id ||
		    __atomic_load_n(&s->stack[i].id, __ATOMIC_RELAXED) != id)
			return i;
	}
	return depth;
}

static bool send_slot(struct carrier *c, uint32_t i)
{
	const struct slot *s = &c->arena->slots[i];
	struct slot *now = &c->slot, *sent = &c->sent_header->slots[i];
	uint32_t owner = __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE);
	uint32_t depth = owner ? __atomic_load_n(&s->depth, __ATOMIC_ACQUIRE) : 0;
	size_t place = offsetof(struct arena, slots) + i * sizeof *s, size;

	if (depth > MAX_DEPTH)
		depth = MAX_DEPTH;
	if (owner == sent->owner && (!owner || same_slot(s, sent, depth)))
		return true;
	now->owner = owner;
	now->tid = owner ? s->tid : 0;
	now->depth = copy_stack(now->stack, s, depth);
	size = offsetof(struct slot, stack) + now->depth * sizeof *now->stack;
	/* The first frame goes last: it has the depth, which makes the other frames count. */
	for (size_t at = FRAME_ROOM; at < size; at += FRAME_ROOM)
		if (!send_cells(c, place + at, (char *)now + at, one_frame(size - at)))
			return false;
	if (!send_cells(c, place, now, one_frame(size)))
		return false;
	memcpy(sent, now, size);
	return true;
}

static bool send_started(struct carrier *c, uint32_t i)
{
	const struct open_range *r = &c->arena->started[i];
	struct open_range *sent = &c->sent_header->started[i], now;
	uint64_t id = __atomic_load_n(&r->id, __ATOMIC_ACQUIRE);

	if (id == sent->id)
		return true;
	now = *r;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/*
	 * Range ids have the thread above bit 40.  Another value, or one that changes during the copy: the place is free or being filled.
	 */
	if (id >> 40 == 0 || now.id != id || __atomic_load_n(&r->id, __ATOMIC_RELAXED) != id)
		now.id = 0;
	if (now.id != sent->id && !send_cells(c, offsetof(struct arena, started) + i * sizeof now, &now, sizeof now))
		return false;
	*sent = now;
	return true;
}

/* Slots are taken lowest first and started ranges in sequence, so places beyond next_thread and next_started are unused. */
static bool send_open_ranges(struct carrier *c)
{
	const struct arena *a = c->arena;
	uint32_t slots = __atomic_load_n(&a->next_thread, __ATOMIC_ACQUIRE);
	uint32_t started = __atomic_load_n(&a->next_started, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < slots && i < MAX_SLOTS - guest->slots_gone; i++)
		if (!send_slot(c, i))
			return false;
	for (uint32_t i = 0; i < started && i < MAX_STARTED; i++)
		if (!send_started(c, i))
			return false;
	return send_changes(c, STARTED_END, offsetof(struct arena, block_state), PIECE);
}

/* ---- rows ---- */

/* Length of the row at p, within `room` bytes.  An invalid row takes all the rest with it; the collector reports it. */
static uint32_t row_length(const char *p, uint32_t room)
{
	uint32_t length = ((const struct row_head *)p)->length;

	return length < sizeof(struct row_head) || length % 8 || length > room ? room : length;
}

/* Bytes for the next frame: whole rows, or a part of one row longer than a frame; *rest: bytes of that row that remain. */
static uint32_t next_rows(struct block *b, uint32_t at, uint32_t limit, uint32_t *rest)
{
	const char *rows = (const char *)(b + 1);
	uint32_t n = 0, length = b->rest;

	if (!length) {
		while (at + n < limit && n + (length = row_length(rows + at + n, limit - at - n)) <= FRAME_ROOM)
			n += length;
		*rest = 0;
		if (n || at == limit)
			return n;
	}
	n = length < FRAME_ROOM ? length : FRAME_ROOM;
	*rest = length - n;
	return n;
}

static void give_back(struct carrier *c, struct block *b, uint32_t i)
{
	b->drained = b->rest = 0;
	c->given_back++;
	__atomic_store_n(&b->used, 0, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&c->arena->n_taken, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->arena->block_state[i], BLOCK_FREE, __ATOMIC_RELEASE);
}

static bool send_rows(struct carrier *c, const struct found_block *f)
{
	struct block *b = arena_block(c->arena, f->index);

	while (b->drained < f->limit || f->full) {
		uint32_t at = b->drained, rest, n = next_rows(b, at, f->limit, &rest);
		bool last = f->full && !rest && at + n >= f->limit;

		c->out.head.place = f->index;
		c->out.head.at = at;
		c->out.head.thread = b->thread;
		memcpy(c->out.body, (const char *)(b + 1) + at, n);
		if (!carrier_put(c, FRAME_ROWS, (rest ? FRAME_PART : 0) | (last ? FRAME_LAST : 0), n))
			return false;
		c->moved = true;
		b->drained = at + n;
		b->rest = rest;
		if (last) {
			give_back(c, b, f->index);
			return true;
		}
	}
	return true;
}

bool carrier_round(struct carrier *c, bool all)
{
	bool got = gather(c, all);

	/* After the look at the blocks and before their rows: no row sent here ends a range that is sent as open. */
	if (!send_open_ranges(c))
		return false;
	for (uint32_t k = 0; k < c->n_found; k++)
		if (!send_rows(c, &c->found[k]))
			return false;
	return !all || (send_changes(c, offsetof(struct arena, costs), offsetof(struct arena, started), PIECE) && got &&
			send_changes(c, offsetof(struct arena, life), offsetof(struct arena, costs), STATE));
}

uint64_t carrier_rows_left(const struct carrier *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n_blocks; i++) {
		struct block *b = arena_block(c->arena, i);
		uint32_t state = c->arena->block_state[i], at, used;

		if (state == BLOCK_FREE || state == BLOCK_GONE)
			continue;
		at = b->drained;
		used = __atomic_load_n(&b->used, __ATOMIC_ACQUIRE);
		if (used > cap_of(c, i) || used % 8)
			continue;
		n += b->rest != 0;
		for (at += b->rest; at < used; n++)
			at += row_length((const char *)(b + 1) + at, used - at);
	}
	for (size_t kind = 0; kind < sizeof c->sent_header->drops / sizeof *c->sent_header->drops; kind++)
		n += c->arena->drops[kind].count - c->sent_header->drops[kind].count;
	return n;
}
