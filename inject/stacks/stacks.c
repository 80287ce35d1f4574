#include "inject/stacks/stacks.h"

#include <errno.h>
#include <string.h>

#include "inject/core/lock.h"
#include "inject/core/memory.h"
#include "inject/core/module.h"
#include "inject/core/scratch.h"
#include "inject/python/python.h"
#include "inject/stacks/stacks_merge.h"
#include "inject/unwind/images.h"
#include "inject/unwind/unwind.h"

#define DEPTH_MOST   128u       /* most frames of a captured stack */
#define FRAMES_MOST  256u       /* most frames of an interned stack */
#define OURS         16u        /* most frames of this object and of CUPTI, the innermost ones */
#define FIRST_PLACES 1024u      /* slots of the first table; doubled when half full */
#define STACKS_MOST  (1u << 18) /* most distinct stacks: 16 bytes each here, about 500 in the trace */

int64_t stacks_slow[N_STACKS_CLASSES] = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };

/* ---- known stacks ---- */

struct stack_slot {
	uint64_t hash;                  /* 0: free */
	uint64_t id;                    /* written before hash */
};

struct stack_slots {
	uint32_t mask;
	struct stack_slot at[];
};

/* Of one process: reached through the guest page, so a forked child starts with none. */
struct stack_table {
	struct stack_slots *places;
	uint32_t lock;
	uint32_t used, last_id;
};

static inline uint64_t fold(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Includes the generation of the loaded images: after one is unloaded, the same addresses may be other code. */
static uint64_t hash_of(const struct stack_frame *f, uint32_t n, uint32_t flags)
{
	uint64_t h = (uint64_t)__atomic_load_n(&images_generation, __ATOMIC_ACQUIRE) << 32 | flags;

	for (uint32_t i = 0; i < n; i++) {
		/* The image of a native frame follows from its address. */
		uint64_t rest = (uint64_t)f[i].what << 32 | (f[i].what == STACK_FRAME_NATIVE ? 0 : f[i].extra);

		h = fold(h ^ f[i].value ^ 0xa0761d6478bd642full, rest ^ 0xe7037ed1a0b428dbull) + h;
	}
	return h | !h;
}

static struct stack_slots *places_new(uint32_t n)
{
	struct stack_slots *p = memory_take(sizeof *p + n * sizeof p->at[0]);

	if (p)
		p->mask = n - 1;
	return p;
}

static struct stack_table *stacks_self(void)
{
	struct stack_table *k = __atomic_load_n(&guest->stacks, __ATOMIC_ACQUIRE), *fresh, *none = NULL;

	if (likely(k != NULL))
		return k;
	fresh = memory_take(sizeof *fresh);
	if (!fresh || !(fresh->places = places_new(FIRST_PLACES)))
		return NULL;
	if (__atomic_compare_exchange_n(&guest->stacks, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	return none;
}

static uint32_t find(const struct stack_slots *p, uint64_t hash)
{
	for (uint32_t i = (uint32_t)(hash >> 20) & p->mask;; i = (i + 1) & p->mask) {
		uint64_t found = __atomic_load_n(&p->at[i].hash, __ATOMIC_ACQUIRE);

		if (found == hash)
			return (uint32_t)p->at[i].id;
		if (!found)
			return 0;
	}
}

/* Caller holds the lock.  Two threads may hold it (lock.h): then a stack may get two ids, or be forgotten and described again. */
static void place(struct stack_slots *p, uint64_t hash, uint32_t id)
{
	for (uint32_t i = (uint32_t)(hash >> 20) & p->mask;; i = (i + 1) & p->mask) {
		if (p->at[i].hash)
			continue;
		p->at[i].id = id;
		__atomic_store_n(&p->at[i].hash, hash, __ATOMIC_RELEASE);
		return;
	}
}

/* The old table is not freed: another thread may be reading it. */
static bool grow(struct stack_table *k)
{
	struct stack_slots *old = k->places, *p = places_new((old->mask + 1) * 2);

	if (!p)
		return false;
	for (uint32_t i = 0; i <= old->mask; i++)
		if (old->at[i].hash)
			place(p, old->at[i].hash, (uint32_t)old->at[i].id);
	__atomic_store_n(&k->places, p, __ATOMIC_RELEASE);
	return true;
}

/* ---- new stacks ---- */

static bool write_row(struct stream *s, uint32_t id, const struct stack_frame *f, uint32_t n, uint32_t flags)
{
	struct stack_row *row = stream_reserve(s, ROW_stack, sizeof *row + n * sizeof *f);

	if (!row)
		return false;
	*row = (struct stack_row){ .id = id, .flags = flags, .depth = n, .bytes = (uint32_t)(n * sizeof *f) };
	memcpy(row + 1, f, n * sizeof *f);
	stream_publish(s, row);
	return true;
}

static bool describe(struct stream *s, uint32_t id, const struct stack_frame *f, uint32_t n, uint32_t flags)
{
	struct stack_frame *named = scratch_push(n * sizeof *named);
	bool written;

	if (!named)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct image *image = f[i].what == STACK_FRAME_NATIVE ? images_at(f[i].value, true) : NULL;

		named[i] = f[i];
		if (f[i].what == STACK_FRAME_NATIVE)
			named[i].extra = image ? images_describe(s, image) : 0;
	}
	written = write_row(s, id, named, n, flags);
	scratch_pop(named);
	return written;
}

static uint32_t insert(struct stream *s, struct stack_table *k, uint64_t hash, const struct stack_frame *f, uint32_t n, uint32_t flags)
{
	uint32_t id = find(k->places, hash);

	if (id)
		return id;
	if (k->used >= STACKS_MOST) {
		health_count(HEALTH_stacks_full);
		return 0;
	}
	if (k->used >= k->places->mask / 2 && !grow(k))
		return 0;
	id = k->last_id + 1;
	if (!describe(s, id, f, n, flags))
		return 0;
	k->last_id = id;
	k->used++;
	place(k->places, hash, id);
	return id;
}

uint32_t stacks_intern(struct stream *s, const struct stack_frame *f, uint32_t n, uint32_t flags)
{
	struct stack_table *k = stacks_self();
	uint64_t hash;
	uint32_t id;

	if (!k || !n)
		return 0;
	if (n > FRAMES_MOST) {
		n = FRAMES_MOST;
		flags |= STACK_CUT;
	}
	hash = hash_of(f, n, flags);
	id = find(__atomic_load_n(&k->places, __ATOMIC_ACQUIRE), hash);
	if (likely(id != 0))
		return id;
	lock_take(&k->lock);
	id = insert(s, k, hash, f, n, flags);
	lock_give(&k->lock);
	return id;
}

/* ---- capture ---- */

#define PYTHON_CUDA 1u          /* setting python_backtrace */

static bool wants_python(const struct stack_want *want)
{
	return want->flags ? want->flags & STACK_PYTHON : guest->config.python_backtrace & PYTHON_CUDA;
}

/* Walks the calling thread's Python frames.  In a signal handler, only if the interpreter is already known. */
static struct stacks_python walk_python(struct py_frame *frames, const struct stack_want *want)
{
	struct stacks_python p = { .frames = frames };
	unsigned how = PY_GUARDED;

	if (!wants_python(want))
		return p;
	if (!want->context) {
		if (!python_ready())
			return p;
		how = python_how();
	}
	p.guarded = how;
	p.n = python_walk(NULL, frames, DEPTH_MOST, how);
	p.cut = p.n == DEPTH_MOST;
	return p;
}

/* Looks for Python in the objects on the stack, 5 ns a frame: without CUDA no thread of this object calls stacks_look(). */
static bool meets_python(const struct unwind_walk *w, const struct stack_want *want)
{
	return want->context ? python_met(w->pcs, w->n) : python_met_now_and_then(w->pcs, w->n);
}

/* Removes frames of interposed functions of this object: the program did not call them. */
static void take_ours_out(struct unwind_walk *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct image *image = images_at(w->pcs[i], true);

		if (image && image->tool == IMAGE_OURS)
			continue;
		w->pcs[n] = w->pcs[i];
		w->sps[n++] = w->sps[i];
	}
	w->n = n;
}

/* Working memory of a capture, from scratch_push(). */
struct stack_capture {
	struct stack_frame frames[DEPTH_MOST];
	struct py_frame py[DEPTH_MOST];
	struct unwind_walk walk;
};

static uint32_t capture(struct stream *s, const struct stack_want *want, const struct unwind_cursor *c, uint32_t first, struct stack_capture *at)
{
	uint32_t depth = want->depth ? want->depth : (uint32_t)guest->config.stack_depth, n, flags;
	struct stacks_python python = walk_python(at->py, want);
	struct unwind_walk *w = &at->walk;

	w->n = w->flags = 0;
	if (depth < 1 || depth > DEPTH_MOST)
		depth = DEPTH_MOST;
	/* A Python call has up to five frames of the interpreter, which are dropped: walk deeper. */
	if (!want->flags || want->flags & STACK_NATIVE)
		unwind_native(c, w, python.n ? UNWIND_MOST : depth + OURS, (enum unwind_method)guest->config.backtrace);
	if (!python.n && wants_python(want) && meets_python(w, want))
		python = walk_python(at->py, want);
	if (want->context)
		take_ours_out(w);
	while (first < w->n && images_is_tool(w->pcs[first], want->context != NULL))
		first++;
	n = stacks_merge(s, at->frames, depth, w, first, &python, &flags);
	return stacks_intern(s, at->frames, n, flags);
}

__attribute__((noinline)) uint32_t stacks_capture(struct stream *s, const struct stack_want *want)
{
	int64_t begin = clock_now();
	struct stack_capture *at = scratch_push(sizeof *at);
	struct unwind_cursor c;
	int saved = errno;
	uint32_t id;

	if (!at)
		return 0;
	if (want->context)
		unwind_context(&c, want->context);
	else
		unwind_here(&c);
	/* Without a context the first frame is this function's: skip it. */
	id = capture(s, want, &c, want->context ? 0 : 1, at);
	scratch_pop(at);
	health_cost(COST_stack, begin);
	errno = saved;
	return id;
}

void stacks_note(struct stream *s, uint64_t range, uint32_t stack)
{
	struct range_stack_row *row;

	if (!stack || !(row = stream_reserve(s, ROW_range_stack, sizeof *row)))
		return;
	*row = (struct range_stack_row){ .range = range, .stack = stack };
	stream_publish(s, row);
}

void stacks_range(struct stream *s, uint64_t range)
{
	stacks_note(s, range, stacks_capture(s, &(struct stack_want){ 0 }));
}

/* ---- settings ---- */

/* Both clocks when the object was loaded.  CUDA starts some tenths of a millisecond later, which gives the TSC's speed to 0.1 %. */
static struct {
	int64_t ticks, ns;
} started;

static int64_t ticks_of(uint64_t ns)
{
	int64_t ticks = (int64_t)tsc_now() - started.ticks, passed = clock_ns(CLOCK_MONOTONIC) - started.ns;

	if (ns > 1ull << 52)
		return INT64_MAX;
	return guest->clock == CLOCK_TSC && passed > 0 ? (int64_t)((double)ns * (double)ticks / (double)passed) : (int64_t)ns;
}

static bool wants_interpreter(const struct config *c)
{
	return ((c->cuda_backtrace || c->nvtx_backtrace[0] || c->torch_stacks) && c->python_backtrace & PYTHON_CUDA) ||
	       (c->sample && c->python_backtrace) || c->python_launch_site;
}

void stacks_start(void)
{
	const struct config *c = &guest->config;
	const uint64_t least[N_STACKS_CLASSES] = {
		[STACKS_KERNEL] = c->cuda_backtrace_ns_kernel, [STACKS_MEMORY] = c->cuda_backtrace_ns_memory,
		[STACKS_SYNC] = c->cuda_backtrace_ns_sync, [STACKS_OTHER] = c->cuda_backtrace_ns_other,
	};

	for (int i = 0; i < N_STACKS_CLASSES; i++)
		stacks_slow[i] = c->cuda_backtrace >> i & 1 ? ticks_of(least[i]) : INT64_MAX;
	if ((c->cuda_backtrace || c->nvtx_backtrace[0]) && c->backtrace == UNWIND_LIBUNWIND)
		unwind_lib_load();
	if (wants_interpreter(c))
		python_look();
}

void stacks_look(void)
{
	const struct config *c = &guest->config;

	if (unlikely(unwind_lib_wanted()))
		unwind_lib_load();
	if (wants_interpreter(c))
		python_look();
}

static void init(void)
{
	if (!session_wanted())
		return;
	started.ticks = (int64_t)tsc_now();
	started.ns = clock_ns(CLOCK_MONOTONIC);
	images_init();
	unwind_init();
	python_start(guest->flags & PROCESS_PRELOADED);
}

/* A thread of the parent may have been inside dlclose() or python_look(). */
static void forked(void)
{
	scratch_forked();
	images_unloading = 0;
	python_forked();
}

const struct module stacks_module = { .init = init, .forked = forked };
