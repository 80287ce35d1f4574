#include "inject/carrier_frames.h"

#include <string.h>

/* The header is compared and sent in pieces of that size; health cells have it. */
#define PIECE 128u

/* Where the tables of what is open begin that are sent as they are; and how far the guest is, in one frame. */
#define STARTED_END (offsetof(struct arena, started) + sizeof ((struct arena *)0)->started)
#define STATE       (offsetof(struct arena, costs) - offsetof(struct arena, life))

_Static_assert(STATE <= FRAME_ROOM && STATE % 8 == 0, "whole words, in one frame");
_Static_assert(offsetof(struct arena, block_state) % 8 == 0, "whole words");

/* A busy program hands a block over every half millisecond, and a look at all blocks takes microseconds. */
#define LOOKS 1000

static uint32_t cap_of(const struct carrier *c, uint32_t i)
{
	return (i < c->arena->n_small ? SMALL_BLOCK : LARGE_BLOCK) - (uint32_t)sizeof(struct block);
}

/* ---- what there is to send ---- */

static void find(struct carrier *c, uint32_t i, uint32_t state)
{
	struct block *b = arena_block(c->arena, i);
	uint32_t used = __atomic_load_n(&b->used, __ATOMIC_ACQUIRE);

	/* A program that wrote over it: the collector would say so, and so must we not believe it. */
	if (used > cap_of(c, i) || used % 8)
		used = b->drained;
	c->found[c->n_found++] = (struct found_block){
		.index = i, .limit = used, .turn = b->turn, .full = state == BLOCK_FULL
	};
}

/*
 * Blocks that are not free.  Those handed over since `turns` was read may have a predecessor that was still owned when
 * it was looked at; so they wait.
 */
static void look(struct carrier *c, bool all)
{
	const struct arena *a = c->arena;
	uint32_t turns = __atomic_load_n(&a->turns, __ATOMIC_ACQUIRE);
	uint32_t left = all ? c->n_blocks : __atomic_load_n(&a->n_taken, __ATOMIC_ACQUIRE);

	c->n_found = 0;
	for (uint32_t i = 0; i < c->n_blocks && left; i++) {
		uint32_t state = __atomic_load_n(&a->block_state[i], __ATOMIC_ACQUIRE);

		left -= state != BLOCK_FREE || all;
		if (state == BLOCK_OWNED ? all : state == BLOCK_FULL)
			find(c, i, state);
	}
	if (all)
		return;

	uint32_t n = 0;

	for (uint32_t k = 0; k < c->n_found; k++)
		if ((int32_t)(c->found[k].turn - turns) < 0)
			c->found[n++] = c->found[k];
	c->n_found = n;
}

/* Had one been handed over meanwhile, rows of its thread in a block that was looked at later would overtake it. */
static bool still_owned(const struct carrier *c)
{
	for (uint32_t k = 0; k < c->n_found; k++)
		if (!c->found[k].full &&
		    __atomic_load_n(&c->arena->block_state[c->found[k].index], __ATOMIC_ACQUIRE) != BLOCK_OWNED)
			return false;
	return true;
}

static bool before(const struct found_block *x, const struct found_block *y)
{
	if (x->full != y->full)
		return x->full;
	return x->full && (int32_t)(x->turn - y->turn) < 0;
}

/* Nearly in order already, most times. */
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

/* False: handed-over blocks alone, because the others never stood still. */
static bool gather(struct carrier *c, bool all)
{
	bool got = true;
	int looks = 0;

	do
		look(c, all);
	while (all && !(got = still_owned(c)) && ++looks < LOOKS);
	if (!got)
		look(c, false);
	put_in_order(c);
	return got;
}

/* ---- cells of the header ---- */

/* n bytes of `from` as what stands at this offset of the arena. */
static bool send_cells(struct carrier *c, size_t place, const void *from, uint32_t n)
{
	c->out.head.place = (uint32_t)place;
	memcpy(c->out.body, from, n);
	return carrier_put(c, FRAME_CELLS, 0, n);
}

/* What differs from what the collector knows, between two offsets of the arena. */
static bool send_changes(struct carrier *c, size_t at, size_t end, size_t piece)
{
	const char *now = (const char *)c->arena;
	char *told = (char *)c->told;

	for (size_t n; at < end; at += n) {
		n = end - at < piece ? end - at : piece;
		if (memcmp(now + at, told + at, n) == 0)
			continue;
		if (!send_cells(c, at, now + at, (uint32_t)n))
			return false;
		memcpy(told + at, c->out.body, n);
	}
	return true;
}

static uint32_t one_frame(size_t n)
{
	return n < FRAME_ROOM ? (uint32_t)n : FRAME_ROOM;
}

static bool same_slot(const struct slot *s, const struct slot *told, uint32_t depth)
{
	if (s->tid != told->tid || depth != told->depth)
		return false;
	for (uint32_t i = 0; i < depth; i++)
		if (__atomic_load_n(&s->stack[i].id, __ATOMIC_RELAXED) != told->stack[i].id)
			return false;
	return true;
}

/*
 * Its thread pushes and pops meanwhile.  While an entry is written anew the depth is below it, and then it has another
 * id: what is the same before and after was whole.
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
	struct slot *now = &c->slot, *told = &c->told->slots[i];
	uint32_t owner = __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE);
	uint32_t depth = owner ? __atomic_load_n(&s->depth, __ATOMIC_ACQUIRE) : 0;
	size_t place = offsetof(struct arena, slots) + i * sizeof *s, size;

	if (depth > MAX_DEPTH)
		depth = MAX_DEPTH;
	if (owner == told->owner && (!owner || same_slot(s, told, depth)))
		return true;
	now->owner = owner;
	now->tid = owner ? s->tid : 0;
	now->depth = copy_stack(now->stack, s, depth);
	size = offsetof(struct slot, stack) + now->depth * sizeof *now->stack;
	/* The rest first, where the stack is deeper than a frame: then comes the head, which makes it count. */
	for (size_t at = FRAME_ROOM; at < size; at += FRAME_ROOM)
		if (!send_cells(c, place + at, (char *)now + at, one_frame(size - at)))
			return false;
	if (!send_cells(c, place, now, one_frame(size)))
		return false;
	memcpy(told, now, size);
	return true;
}

static bool send_started(struct carrier *c, uint32_t i)
{
	const struct open_range *r = &c->arena->started[i];
	struct open_range *told = &c->told->started[i], now;
	uint64_t id = __atomic_load_n(&r->id, __ATOMIC_ACQUIRE);

	if (id == told->id)
		return true;
	now = *r;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/*
	 * Real ids have a thread above bit 40; else, and when it changes under our eyes, the place is free or being
	 * filled.
	 */
	if (id >> 40 == 0 || now.id != id || __atomic_load_n(&r->id, __ATOMIC_RELAXED) != id)
		now.id = 0;
	if (now.id != told->id && !send_cells(c, offsetof(struct arena, started) + i * sizeof now, &now, sizeof now))
		return false;
	*told = now;
	return true;
}

/* Slots and places of started ranges are taken lowest first, or one after the other. */
static bool send_open_ranges(struct carrier *c)
{
	const struct arena *a = c->arena;
	uint32_t slots = __atomic_load_n(&a->next_thread, __ATOMIC_ACQUIRE);
	uint32_t started = __atomic_load_n(&a->next_started, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < slots && i < MAX_SLOTS; i++)
		if (!send_slot(c, i))
			return false;
	for (uint32_t i = 0; i < started && i < MAX_STARTED; i++)
		if (!send_started(c, i))
			return false;
	return send_changes(c, STARTED_END, offsetof(struct arena, block_state), PIECE);
}

/* ---- rows ---- */

/* Length of the row at p.  What is none goes on its way with all that follows; the collector says so. */
static uint32_t row_length(const char *p, uint32_t room)
{
	uint32_t length = ((const struct row_head *)p)->length;

	return length < sizeof(struct row_head) || length % 8 || length > room ? room : length;
}

/* Bytes for the next frame: whole rows, or as much of a long one as fits; then b->rest is what follows of it. */
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

	/* After the look at the rows, and on its way before them: none that is sent ends what is said to be open. */
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
		uint32_t at = b->drained, used = __atomic_load_n(&b->used, __ATOMIC_ACQUIRE);

		if (c->arena->block_state[i] == BLOCK_FREE || used > cap_of(c, i) || used % 8)
			continue;
		n += b->rest != 0;
		for (at += b->rest; at < used; n++)
			at += row_length((const char *)(b + 1) + at, used - at);
	}
	for (size_t kind = 0; kind < sizeof c->told->drops / sizeof *c->told->drops; kind++)
		n += c->arena->drops[kind].count - c->told->drops[kind].count;
	return n;
}
