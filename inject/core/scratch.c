#include "inject/core/scratch.h"

#include <stdint.h>

#include "inject/core/health.h"
#include "inject/core/memory.h"
#include "inject/core/stream.h"

#define PIECES 256u             /* most threads at once; 16 MiB of address space if all are used */
#define BYTES  (64u << 10)

struct scratch_piece {
	uint32_t taken;
	uint32_t used;
	/* rooms in use, 1 before `own` is set: a signal handler's pop never frees the room that it interrupted */
	uint32_t depth;
	char bytes[BYTES - 16] __attribute__((aligned(16)));
};

static struct scratch_piece *pieces[PIECES];
static __thread struct scratch_piece *own;

/* Starts at the calling thread's own index: that piece is in its cache, and other threads start elsewhere. */
static struct scratch_piece *take_piece(void)
{
	uint32_t first = stream_self.thread;

	for (uint32_t i = 0; i < PIECES; i++) {
		struct scratch_piece **at = &pieces[(first + i) % PIECES], *piece = __atomic_load_n(at, __ATOMIC_ACQUIRE), *none = NULL;
		uint32_t freed = 0;

		if (!piece) {
			struct scratch_piece *fresh = memory_map(sizeof *fresh);

			if (!fresh)
				return NULL;
			fresh->taken = 1;
			fresh->depth = 1;
			if (__atomic_compare_exchange_n(at, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return fresh;
			memory_unmap(fresh, sizeof *fresh);
			piece = none;
		}
		if (!__atomic_load_n(&piece->taken, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&piece->taken, &freed, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			piece->depth = 1;
			return piece;
		}
	}
	return NULL;
}

/* used: bytes in use without the innermost room.  A signal handler, which uses scratch memory too, may run between any two steps. */
static void leave(struct scratch_piece *p, uint32_t used)
{
	if (p->depth > 1) {
		p->used = used;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		p->depth--;
		return;
	}
	own = NULL;                     /* first: from here on a handler takes another piece */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	p->used = 0;
	__atomic_store_n(&p->taken, 0, __ATOMIC_RELEASE);
}

void *scratch_push(size_t size)
{
	struct scratch_piece *p = own;
	uint32_t at;

	size = (size + 15) & ~(size_t)15;
	if (p)
		p->depth++;
	else
		p = take_piece();
	if (!p) {
		health_count(HEALTH_no_scratch);
		return NULL;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own = p;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at = p->used;
	if (size > sizeof p->bytes - at) {
		leave(p, at);
		health_count(HEALTH_no_scratch);
		return NULL;
	}
	p->used = at + (uint32_t)size;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return p->bytes + at;
}

void scratch_pop(void *room)
{
	if (!room)
		return;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	leave(own, (uint32_t)((char *)room - own->bytes));
}

void scratch_forked(void)
{
	/* The thread that forked keeps its piece: a hook that a forking signal handler interrupted goes on in the child. */
	for (uint32_t i = 0; i < PIECES; i++) {
		if (!pieces[i] || pieces[i] == own)
			continue;
		pieces[i]->used = 0;
		pieces[i]->taken = 0;
	}
}
