#include "inject/python.h"

#include <pthread.h>
#include <string.h>

#include "inject/health.h"
#include "inject/images.h"
#include "inject/python_state.h"

struct python python;

#define MAX_CODE_BYTES (64u << 20)      /* an offset beyond is none */

/* ---- the thread state ---- */

static uint64_t call_getter(uint64_t function)
{
	return function ? (uint64_t)(uintptr_t)((void *(*)(void))(uintptr_t)function)() : 0;
}

static bool is_mine(uint64_t state)
{
	uint64_t thread;

	return peek_plausible(state) && peek(&thread, state + python.layout.state_thread, sizeof thread) &&
	       thread == (uint64_t)pthread_self();
}

/*
 * Up to 3.11 the thread's state is that of the main interpreter, also while it runs another one.  What it runs is told by the holder
 * of the GIL alone: where that is another thread, nothing is sure.
 */
static uint64_t of_several_interpreters(uint64_t state)
{
	uint64_t holder = call_getter(python.symbols.holder_state);

	if (holder == state || is_mine(holder))
		return holder;
	health_count(HEALTH_python_unsure);     /* safe in a signal handler */
	return 0;
}

uint64_t python_thread_state(void)
{
	const struct py_layout *l = &python.layout;
	uint64_t runtime = python.symbols.runtime;
	uint64_t finalizing = py_load64(runtime + l->runtime_finalizing);
	uint64_t state = call_getter(python.symbols.this_state);

	if (unlikely(!peek_plausible(state) || (finalizing && finalizing != state)))
		return 0;
	if (l->runtime_interpreters &&
	    unlikely(py_load64(runtime + l->runtime_interpreters) != py_load64(runtime + l->runtime_interpreters + 8)))
		return of_several_interpreters(state);
	return state;
}

/* ---- the walk ---- */

/* A frame's first bytes: where they are, or guarded, a copy. */
struct view {
	const char *at;
	char copy[128];
};

static inline __attribute__((always_inline)) bool view_frame(struct view *v, const struct py_layout *l, uint64_t frame, bool guarded)
{
	if (unlikely(!peek_plausible(frame)))
		return false;
	v->at = (const char *)(uintptr_t)frame;
	if (!guarded)
		return true;
	v->at = v->copy;
	return l->frame_size <= sizeof v->copy && peek(v->copy, frame, l->frame_size);
}

static inline uint64_t view64(const struct view *v, uint16_t offset)
{
	uint64_t value;

	memcpy(&value, v->at + offset, sizeof value);
	return value;
}

static inline int32_t view32(const struct view *v, uint16_t offset)
{
	int32_t value;

	memcpy(&value, v->at + offset, sizeof value);
	return value;
}

static inline __attribute__((always_inline)) bool load64(uint64_t *value, uint64_t address, bool guarded)
{
	if (unlikely(!peek_plausible(address)))
		return false;
	if (guarded)
		return peek(value, address, sizeof *value);
	*value = py_load64(address);
	return true;
}

/* Where a frame's instructions begin: in the code object, or in this thread's own copy of them. */
static inline __attribute__((always_inline)) uint64_t code_begin(const struct view *v, const struct py_layout *l, uint64_t code, bool guarded)
{
	int32_t copy = l->frame_tlbc ? view32(v, l->frame_tlbc) : 0;
	uint64_t copies, n, begin;

	if (likely(!copy))
		return code + l->code_code;
	if (!load64(&copies, code + l->code_tlbc, guarded) || !load64(&n, copies, guarded) || copy < 0 || (uint64_t)copy >= n ||
	    !load64(&begin, copies + 8 + 8 * (uint64_t)copy, guarded))
		return 0;
	return begin;
}

static inline __attribute__((always_inline)) uint32_t offset_of(const struct view *v, const struct py_layout *l, uint64_t code, bool guarded)
{
	int64_t offset;
	uint64_t begin;

	switch (l->instruction) {
	case PY_LASTI_BYTES:
		offset = view32(v, l->frame_instruction);
		break;
	case PY_LASTI_UNITS:
		offset = 2 * (int64_t)view32(v, l->frame_instruction);
		break;
	default:
		begin = code_begin(v, l, code, guarded);
		offset = begin ? (int64_t)(view64(v, l->frame_instruction) - begin) : -1;
	}
	return offset >= 0 && offset < MAX_CODE_BYTES ? (uint32_t)offset : STACK_NO_OFFSET;
}

static inline __attribute__((always_inline)) uint32_t walk(uint64_t frame, uint64_t *left, struct py_frame *out, uint32_t max, bool guarded, bool *broken)
{
	const struct py_layout *l = &python.layout;
	const bool shims = py_has_shims(l);
	uint32_t n = 0, shims_left = 2 * max + 16;      /* they cannot run in circles */
	uint64_t chain = *left;
	struct view v;

	while (frame && view_frame(&v, l, frame, guarded)) {
		struct py_frame *f;
		uint64_t here = frame;

		frame = view64(&v, l->frame_previous);
		if (shims && (uint8_t)v.at[l->frame_owner] >= PY_OWNER_C) {
			if (n && !out[n - 1].entry) {   /* the first one: 3.15 ends with one more, which is on no C stack */
				out[n - 1].entry = 1;
				out[n - 1].c_stack = here;
			}
			if (!shims_left--)
				break;
			continue;
		}
		if (n == max)
			break;
		f = &out[n++];
		*f = (struct py_frame){ .code = view64(&v, l->frame_code) & PY_UNTAG };
		f->offset = offset_of(&v, l, f->code, guarded);
		if (shims)
			continue;
		f->entry = l->frame_entry ? (uint8_t)v.at[l->frame_entry] : 1;
		if (!f->entry || !chain)
			continue;
		f->c_stack = chain;
		if (!load64(&chain, chain + l->chain_previous, guarded))
			chain = 0;
	}
	*broken = frame && n < max;
	*left = chain;
	return n;
}

/* The last record, which is of no call. */
static bool is_last_record(uint64_t state, uint64_t record)
{
	return record - state < 4096;   /* it lies in the thread state */
}

/*
 * In a signal handler the interpreter may be about to begin or to end an eval call.  In 3.10 it has then one record more than frames,
 * or one less; of another version, or by more, they do not belong together.
 */
static bool align(uint64_t state, uint64_t left, struct py_frame *f, uint32_t n)
{
	bool more = !is_last_record(state, left);
	uint64_t next;

	if (!more && !is_last_record(state, f[n - 1].c_stack))
		return true;
	if (python.layout.version >= PY_VERSION(3, 11))
		return false;
	if (more && !(load64(&next, left + python.layout.chain_previous, true) && is_last_record(state, next)))
		return false;
	if (more) {
		for (uint32_t i = 0; i + 1 < n; i++)
			f[i].c_stack = f[i + 1].c_stack;
		f[n - 1].c_stack = left;
	} else {
		for (uint32_t i = n; --i;)
			f[i].c_stack = f[i - 1].c_stack;
		f[0].c_stack = 0;
	}
	return true;
}

/* What was interrupted half-way is no stack. */
static uint32_t walk_interrupted(uint64_t state, uint64_t frame, uint64_t chain, struct py_frame *out, uint32_t max, bool *broken)
{
	const struct py_layout *l = &python.layout;
	uint32_t n = walk(frame, &chain, out, max, true, broken);

	if (*broken || !n || n == max)
		return *broken ? 0 : n;
	if (!out[n - 1].entry)
		return 0;
	return !l->state_chain || align(state, chain, out, n) ? n : 0;
}

enum walk_how { WALK_PLAIN, WALK_GUARDED, WALK_INTERRUPTED };

/* *broken: the chain ended in something that is no frame. */
static uint32_t walk_state(uint64_t state, struct py_frame *out, uint32_t max, enum walk_how how, bool *broken)
{
	const struct py_layout *l = &python.layout;
	bool guarded = how != WALK_PLAIN;
	uint64_t frame, chain = 0;

	*broken = true;
	if (!load64(&frame, state + l->state_frame, guarded) ||
	    (l->cframe && (!frame || !load64(&frame, frame + l->cframe - 1, guarded))) ||
	    (l->state_chain && !load64(&chain, state + l->state_chain, guarded)))
		return 0;
	if (how == WALK_INTERRUPTED)
		return walk_interrupted(state, frame, chain, out, max, broken);
	return guarded ? walk(frame, &chain, out, max, true, broken) : walk(frame, &chain, out, max, false, broken);
}

/* ---- is the layout the right one?  All by guarded reads, on the stack at hand ---- */

#define CHECKED_FRAMES 24

static bool has_type(uint64_t object, uint64_t type)
{
	uint64_t found;

	return peek_plausible(object) && peek(&found, object + python.layout.object_type, sizeof found) && found == type;
}

static bool points_to(uint64_t place, uint64_t type)
{
	uint64_t object;

	return peek(&object, place, sizeof object) && has_type(object, type);
}

static bool is_sound(const struct py_frame *f)
{
	const struct py_layout *l = &python.layout;
	uint64_t units;

	if (!has_type(f->code, python.symbols.code_type) || !points_to(f->code + l->code_file, python.symbols.text_type) ||
	    !points_to(f->code + l->code_name, python.symbols.text_type) ||
	    !points_to(f->code + l->code_lines, python.symbols.bytes_type))
		return false;
	/* A frame that has not begun yet points before its code, up to 3.12; where threads have copies of it, to none of them. */
	if (l->instruction != PY_POINTER || f->offset == STACK_NO_OFFSET)
		return !l->frame_tlbc || f->offset != STACK_NO_OFFSET;
	return peek(&units, f->code + l->object_type + 8, sizeof units) && f->offset < 2 * units;
}

static void turn_off(const char *why)
{
	python.why_off = why;
	__atomic_store_n(&python.phase, PY_OFF, __ATOMIC_RELEASE);
}

#define TRIES 8u                /* a handler that finds the interpreter half-way through a change thinks that it is wrong */

/* NULL: it is as it should be. */
static const char *what_is_wrong(const struct py_frame *frames, uint32_t n, bool broken)
{
	if (broken || (py_has_shims(&python.layout) && n < CHECKED_FRAMES && !frames[n - 1].entry))
		return "its chain of frames does not end as its version's does";
	for (uint32_t i = 0; i < n; i++)
		if (!is_sound(&frames[i]))
			return "its frames are not as its version has them";
	if (!py_layout_agrees(&python.layout, &python.symbols))
		return "its code objects are not as its version has them";
	return NULL;
}

/* False as long as the thread has no stack to tell by. */
static bool verify(uint64_t state, bool interrupted)
{
	static uint32_t tries;
	struct py_frame frames[CHECKED_FRAMES];
	const char *wrong;
	uint32_t n;
	uint64_t probe;
	bool broken;

	if (!peek(&probe, python.symbols.runtime, sizeof probe)) {
		turn_off("its memory cannot be read (process_vm_readv)");
		return false;
	}
	if (is_mine(state)) {
		n = walk_state(state, frames, CHECKED_FRAMES, WALK_GUARDED, &broken);
		if (!n && !broken)
			return false;
		wrong = what_is_wrong(frames, n, broken);
	} else {
		wrong = "its thread states are not as its version has them";
	}
	if (!wrong)
		__atomic_store_n(&python.phase, PY_ON, __ATOMIC_RELEASE);
	else if (!interrupted || __atomic_add_fetch(&tries, 1, __ATOMIC_RELAXED) >= TRIES)
		turn_off(wrong);
	return !wrong;
}

/* ---- finding it ---- */

static void set_image(void)
{
	const struct py_symbols *p = &python.symbols;

	python.image = (struct py_image){ p->low, p->high, p->eval, p->eval + p->eval_size };
}

static bool find_among(const uint64_t *pcs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct image *image = images_at(pcs[i], true);

		if (!image || image->searched)
			continue;
		image->searched = 1;
		if (py_symbols_in(&python.symbols, image->base, image->low))
			return true;
	}
	return false;
}

/* pcs NULL: in all objects. */
static void look(const uint64_t *pcs, uint32_t n)
{
	uint32_t none = PY_NONE, version = 0;
	const char *why;

	if (!__atomic_compare_exchange_n(&python.phase, &none, PY_LOOKING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	if (python.symbols.runtime || (pcs ? find_among(pcs, n) : py_symbols_find(&python.symbols)))
		version = py_symbols_version(&python.symbols);
	if (!version) {
		__atomic_store_n(&python.phase, PY_NONE, __ATOMIC_RELEASE);
		return;
	}
	set_image();
	python.layout.version = version;        /* for what is said about it */
	why = py_layout_fill(&python.layout, &python.symbols, version);
	if (why)
		turn_off(why);
	else
		__atomic_store_n(&python.phase, PY_FOUND, __ATOMIC_RELEASE);
}

void python_forked(void)
{
	uint32_t looking = PY_LOOKING;

	if (__atomic_compare_exchange_n(&python.phase, &looking, PY_NONE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		python.symbols.runtime = 0;
}

static void say_why(void)
{
	if (__atomic_exchange_n(&python.said, guest->epoch, __ATOMIC_RELAXED) != guest->epoch)
		health_note(HEALTH_python_off, "Python %u.%u: %s", python.layout.version >> 8 & 0xff, python.layout.version & 0xff,
			    python.why_off);
}

void python_look(void)
{
	if (__atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) == PY_NONE)
		look(NULL, 0);
}

bool python_ready(void)
{
	uint32_t phase = __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE);
	uint64_t state;

	if (likely(phase == PY_ON))
		return true;
	if (phase == PY_FOUND) {
		state = python_thread_state();
		if (state && verify(state, false))
			return true;
		phase = __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE);
	}
	if (unlikely(phase == PY_OFF))
		say_why();
	return false;
}

bool python_met(const uint64_t *pcs, uint32_t n)
{
	uint32_t phase;

	if (likely(__atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) != PY_NONE))
		return false;
	look(pcs, n);
	phase = __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE);
	if (phase == PY_OFF)
		say_why();
	return phase == PY_FOUND;
}

uint32_t python_walk(const void *given, struct py_frame *out, uint32_t max, unsigned how)
{
	uint32_t phase = __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE);
	uint64_t state;
	bool broken;

	if (phase != PY_ON && phase != PY_FOUND)
		return 0;
	state = given ? (uint64_t)(uintptr_t)given : python_thread_state();
	if (!state)
		return 0;
	if (phase == PY_FOUND && !verify(state, how & PY_GUARDED)) {
		if (__atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) == PY_OFF)
			say_why();
		return 0;
	}
	return walk_state(state, out, max, how & PY_GUARDED ? WALK_INTERRUPTED : WALK_PLAIN, &broken);
}

const struct py_image *python_image(void)
{
	return __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) >= PY_FOUND && python.image.high ? &python.image : NULL;
}
