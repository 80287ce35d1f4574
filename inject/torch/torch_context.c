#include "inject/torch/torch_context.h"

#include <sys/mman.h>

#include "inject/core/memory.h"
#include "inject/torch/torch_abi.h"

#define ROWS (MAX_SLOTS + 1)            /* the last row is for all threads without a slot in the arena */

/* Contexts of the threads of one slot. */
struct row {
	uint32_t left;                  /* contexts in state CONTEXT_LEFT */
	uint32_t pad[15];
	struct torch_context contexts[MAX_DEPTH];
};

static struct row *rows;                /* a forked child has a copy; contexts that are open in it belong to the parent's threads */

static void destroy(void *p)
{
	(void)p;
}

/* Called by PyTorch when it deletes the context. */
static void delete(void *p)
{
	struct torch_context *c = p;
	uint32_t state = __atomic_load_n(&c->state, __ATOMIC_RELAXED);

	while (state == CONTEXT_USED || state == CONTEXT_LEFT || state == CONTEXT_TIDIED)
		if (__atomic_compare_exchange_n(&c->state, &state, state == CONTEXT_LEFT ? CONTEXT_DELETED : CONTEXT_FREE, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
}

static const struct torch_vtable vtable = { .destroy = destroy, .delete = delete };

bool torch_contexts_ready(void)
{
	rows = memory_map_file(ROWS * sizeof *rows, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	return rows;
}

static struct row *row_of(const struct stream *s)
{
	const struct slot *slots = guest->arena->slots;

	return &rows[s->slot >= slots && s->slot < slots + MAX_SLOTS ? s->slot - slots : MAX_SLOTS];
}

struct torch_context *torch_context_take(struct stream *s)
{
	struct row *row = row_of(s);
	uint32_t depth = s->slot ? s->slot->depth : 0;

	for (uint32_t i = 0; i < MAX_DEPTH; i++) {
		struct torch_context *c = &row->contexts[(depth + i) % MAX_DEPTH];
		uint32_t free = CONTEXT_FREE;

		if (__atomic_load_n(&c->state, __ATOMIC_RELAXED) != CONTEXT_FREE ||
		    !__atomic_compare_exchange_n(&c->state, &free, CONTEXT_USED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		c->vtable = &vtable.destroy;
		c->epoch = guest->epoch;
		c->thread = s->thread;
		c->id = c->handle = 0;
		c->tag = 0;
		return c;
	}
	health_drop(ROW_range, 1);
	return NULL;
}

void torch_context_give(struct torch_context *c)
{
	delete(c);
}

bool torch_context_leave(struct torch_context *c)
{
	size_t i = (size_t)((char *)c - (char *)rows) / sizeof *rows;
	struct row *row = &rows[i];

	if (i < MAX_SLOTS && __atomic_load_n(&guest->arena->slots[i].owner, __ATOMIC_ACQUIRE) != c->thread)
		return false;
	__atomic_store_n(&c->state, CONTEXT_LEFT, __ATOMIC_RELEASE);
	__atomic_fetch_add(&row->left, 1, __ATOMIC_RELEASE);
	return true;
}

void torch_context_tidy(struct stream *s)
{
	struct row *row = row_of(s);

	if (likely(!__atomic_load_n(&row->left, __ATOMIC_ACQUIRE)))
		return;
	for (uint32_t i = 0; i < MAX_DEPTH; i++) {
		struct torch_context *c = &row->contexts[i];
		uint32_t state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);

		if (state != CONTEXT_LEFT && state != CONTEXT_DELETED)
			continue;
		if (c->thread == s->thread)
			ranges_forget(s, c->id);
		else if (row == &rows[MAX_SLOTS])
			/* the shared row: that thread may be alive.  In another row it has ended, and this thread has its slot */
			continue;
		__atomic_fetch_sub(&row->left, 1, __ATOMIC_RELAXED);
		state = CONTEXT_LEFT;
		if (!__atomic_compare_exchange_n(&c->state, &state, CONTEXT_TIDIED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			__atomic_store_n(&c->state, CONTEXT_FREE, __ATOMIC_RELEASE);
	}
}
