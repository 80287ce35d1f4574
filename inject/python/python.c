#include "inject/python/python.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/core/health.h"
#include "inject/core/scratch.h"
#include "inject/core/seccomp.h"
#include "inject/python/python_state.h"
#include "inject/unwind/images.h"

struct python python;

#define MAX_CODE_BYTES (64u << 20)      /* larger instruction offsets are invalid */

/* ---- the interpreter may be unmapped ---- */

#define MOST_WAIT_NS 20000000   /* longest wait of dlclose() for threads that are reading the interpreter */

static uint64_t first_thread;           /* pthread_self() of the process's first thread; 0: unknown */
static uint64_t low_at_start;           /* lowest address of the interpreter's object if it was loaded at program start; 0: none was */
static uint32_t closing;                /* threads inside dlclose() */
static int32_t inside;                  /* threads that are reading an interpreter that may be unmapped */

/* Must be paired with come_out(), also when it returns false. */
static bool go_in(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	return !__atomic_load_n(&closing, __ATOMIC_SEQ_CST);
}

static void come_out(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_RELEASE);
}

/* Detects an unmapping by a dlclose() that was not interposed, e.g. one in another link-map namespace. */
static bool is_mapped(void)
{
	const struct link_map *map;

	return !images_link_map((const void *)(uintptr_t)python.symbols.runtime, &map) || map;
}

void python_start(bool preloaded)
{
	struct py_symbols symbols;

	if (seccomp_allows(SECCOMP_START) && syscall(SYS_gettid) == syscall(SYS_getpid))
		first_thread = (uint64_t)pthread_self();
	if (preloaded && py_symbols_present(&symbols))
		low_at_start = symbols.low;
}

bool python_closing(void)
{
	int64_t begin = 0, now;

	if (python.stays)
		return false;
	__atomic_add_fetch(&closing, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0) {
		if (seccomp_allows(SECCOMP_LOCK))
			sched_yield();
		now = clock_ns(CLOCK_MONOTONIC);
		begin = begin ? begin : now;
		if (now - begin > MOST_WAIT_NS) {       /* a thread left by longjmp(), or waits for a lock that this thread holds */
			__atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
			break;
		}
	}
	return true;
}

static void forget(void)
{
	__atomic_store_n(&python.phase, PY_NONE, __ATOMIC_RELEASE);
	python.symbols = (struct py_symbols){ 0 };
	python.image = (struct py_image){ 0 };
	python.said = 0;
	__atomic_add_fetch(&python.unloaded, 1, __ATOMIC_RELEASE);
}

void python_closed(void)
{
	if (python.symbols.runtime && !python.stays && !py_symbols_hold(&python.symbols))
		forget();
	__atomic_sub_fetch(&closing, 1, __ATOMIC_SEQ_CST);
}

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
 * Up to 3.11, PyGILState_GetThisThreadState() returns the thread's state in the main interpreter, even while the thread runs another
 * interpreter.  Only the holder of the GIL is known for sure; if another thread holds the GIL, returns 0 (counted).
 */
static uint64_t of_several_interpreters(uint64_t state)
{
	uint64_t holder = call_getter(python.symbols.holder_state);

	if (holder == state || is_mine(holder))
		return holder;
	health_count(HEALTH_python_unsure);     /* safe in a signal handler */
	return 0;
}

/* Call only while the interpreter is mapped.  While it finalizes, only the finalizing thread gets its state. */
static uint64_t state_of_thread(void)
{
	const struct py_layout *l = &python.layout;
	uint64_t runtime = python.symbols.runtime, finalizing = py_load64(runtime + l->runtime_finalizing), state;

	if (unlikely(finalizing && !is_mine(finalizing)))
		return 0;
	state = call_getter(python.symbols.this_state);
	if (unlikely(!peek_plausible(state) || (finalizing && finalizing != state)))
		return 0;
	if (l->runtime_interpreters &&
	    unlikely(py_load64(runtime + l->runtime_interpreters) != py_load64(runtime + l->runtime_interpreters + 8)))
		return of_several_interpreters(state);
	return state;
}

uint64_t python_thread_state(void)
{
	uint64_t state = 0;

	if (likely(python.stays))
		return state_of_thread();
	if (go_in() && __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) >= PY_FOUND && is_mapped())
		state = state_of_thread();
	come_out();
	return state;
}

bool python_is_safe(uint64_t state)
{
	bool safe = false;

	if (likely(python.stays) || (uint64_t)pthread_self() == first_thread)
		return true;
	if (go_in() && __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) >= PY_FOUND && is_mapped())
		safe = call_getter(python.symbols.holder_state) == state;
	come_out();
	return safe;
}

unsigned python_how(void)
{
	uint64_t state;

	if (likely(python.stays) || (uint64_t)pthread_self() == first_thread)
		return 0;
	state = python_thread_state();
	return state && python_is_safe(state) ? 0 : PY_SHARED;
}

/* ---- the walk ---- */

/* Returns the address of the frame's first instruction: in the code object, or in the thread's copy of the bytecode (free threading). */
static inline __attribute__((always_inline)) uint64_t
code_begin(const struct py_view *v, const struct py_layout *l, uint64_t code, bool guarded)
{
	int32_t copy = l->frame_tlbc ? py_view32(v, l->frame_tlbc) : 0;
	uint64_t copies, n, begin;

	if (likely(!copy))
		return code + l->code_code;
	if (!py_read64(&copies, code + l->code_tlbc, guarded) || !py_read64(&n, copies, guarded) || copy < 0 || (uint64_t)copy >= n ||
	    !py_read64(&begin, copies + 8 + 8 * (uint64_t)copy, guarded))
		return 0;
	return begin;
}

static inline __attribute__((always_inline)) uint32_t
offset_of(const struct py_view *v, const struct py_layout *l, uint64_t code, bool guarded)
{
	int64_t offset;
	uint64_t begin;

	switch (l->instruction) {
	case PY_LASTI_BYTES:
		offset = py_view32(v, l->frame_instruction);
		break;
	case PY_LASTI_UNITS:
		offset = 2 * (int64_t)py_view32(v, l->frame_instruction);
		break;
	default:
		begin = code_begin(v, l, code, guarded);
		offset = begin ? (int64_t)(py_view64(v, l->frame_instruction) - begin) : -1;
	}
	return offset >= 0 && offset < MAX_CODE_BYTES ? (uint32_t)offset : STACK_NO_OFFSET;
}

static inline __attribute__((always_inline)) uint32_t
walk(uint64_t frame, uint64_t *left, struct py_frame *out, uint32_t max, bool guarded, bool *broken)
{
	const struct py_layout *l = &python.layout;
	const bool shims = py_has_shims(l);
	uint32_t n = 0, links = PY_LINKS(max);
	uint64_t chain = *left;
	struct py_view v;

	while (frame && links-- && py_view(&v, l, frame, guarded)) {
		struct py_frame *f;
		uint64_t here = frame;

		frame = py_view64(&v, l->frame_previous);
		if (shims && (uint8_t)v.at[l->frame_owner] >= PY_OWNER_C) {
			if (n && !out[n - 1].entry) {   /* only the first: 3.15 ends the chain with one more, which has no C frame */
				out[n - 1].entry = 1;
				out[n - 1].c_stack = here;
			}
			continue;
		}
		if (n == max)
			break;
		f = &out[n++];
		*f = (struct py_frame){ .code = py_view64(&v, l->frame_code) & PY_UNTAG };
		f->offset = offset_of(&v, l, f->code, guarded);
		if (shims)
			continue;
		f->entry = l->frame_entry ? (uint8_t)v.at[l->frame_entry] : 1;
		if (!f->entry || !chain)
			continue;
		f->c_stack = chain;
		if (!py_read64(&chain, chain + l->chain_previous, guarded))
			chain = 0;
	}
	*broken = frame && n < max;
	*left = chain;
	return n;
}

/* True for the chain's last record, which belongs to no eval call. */
static bool is_last_record(uint64_t state, uint64_t record)
{
	return record - state < 4096;   /* it is a member of the thread state */
}

/*
 * Matches C-stack records to frames.  In a signal handler the interpreter may be entering or leaving an eval call: 3.10 then has one record
 * more, or one less, than frames.  Any other mismatch returns false.
 */
static bool align(uint64_t state, uint64_t left, struct py_frame *f, uint32_t n)
{
	bool more = !is_last_record(state, left);
	uint64_t next;

	if (!more && !is_last_record(state, f[n - 1].c_stack))
		return true;
	if (python.layout.version >= PY_VERSION(3, 11))
		return false;
	if (more && !(py_read64(&next, left + python.layout.chain_previous, true) && is_last_record(state, next)))
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

/* Walks in a signal handler.  Returns 0 if the chain of frames was interrupted in the middle of a change. */
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

/* *broken: the chain ended at an address that is not a frame. */
static uint32_t walk_state(uint64_t state, struct py_frame *out, uint32_t max, enum walk_how how, bool *broken)
{
	const struct py_layout *l = &python.layout;
	bool guarded = how != WALK_PLAIN;
	uint64_t frame, chain = 0;

	*broken = true;
	if (!py_first_frame(&frame, l, state, guarded) || (l->state_chain && !py_read64(&chain, state + l->state_chain, guarded)))
		return 0;
	if (how == WALK_INTERRUPTED)
		return walk_interrupted(state, frame, chain, out, max, broken);
	return guarded ? walk(frame, &chain, out, max, true, broken) : walk(frame, &chain, out, max, false, broken);
}

/* ---- layout check: guarded reads of the current stack ---- */

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
	/*
	 * No offset: the frame has not started yet and points before its code (up to 3.12).  With per-thread copies of the bytecode there
	 * must be an offset.
	 */
	if (l->instruction != PY_POINTER || f->offset == STACK_NO_OFFSET)
		return !l->frame_tlbc || f->offset != STACK_NO_OFFSET;
	return peek(&units, f->code + l->object_type + 8, sizeof units) && f->offset < 2 * units;
}

static void turn_off(const char *why)
{
	python.why_off = why;
	__atomic_store_n(&python.phase, PY_OFF, __ATOMIC_RELEASE);
}

/* failed checks in signal handlers before the layout is rejected: a handler may interrupt a change of the frames */
#define TRIES 8u

/* NULL: the frames match the layout.  Otherwise static text that says what does not. */
static const char *what_is_wrong(const struct py_frame *frames, uint32_t n, bool broken)
{
	if (broken || (py_has_shims(&python.layout) && n < CHECKED_FRAMES && !frames[n - 1].entry))
		return "unexpected end of the chain of frames (modified build of CPython?)";
	for (uint32_t i = 0; i < n; i++)
		if (!is_sound(&frames[i]))
			return "unexpected layout of frames (modified build of CPython?)";
	if (!py_layout_agrees(&python.layout, &python.symbols))
		return "unexpected layout of code objects (modified build of CPython?)";
	return NULL;
}

/* Checks the layout on this thread's stack.  False: it is wrong, or the thread has no Python frame to check yet. */
static bool verify(uint64_t state, bool interrupted)
{
	static uint32_t tries;
	struct py_frame *frames;
	const char *wrong;
	uint32_t n;
	uint64_t probe;
	bool broken;

	if (!peek(&probe, python.symbols.runtime, sizeof probe)) {
		turn_off("process_vm_readv() cannot read the interpreter's memory");
		return false;
	}
	if (!(frames = scratch_push(CHECKED_FRAMES * sizeof *frames)))
		return false;
	if (is_mine(state)) {
		n = walk_state(state, frames, CHECKED_FRAMES, WALK_GUARDED, &broken);
		if (!n && !broken) {
			scratch_pop(frames);
			return false;
		}
		wrong = what_is_wrong(frames, n, broken);
	} else {
		wrong = "unexpected layout of thread states (modified build of CPython?)";
	}
	scratch_pop(frames);
	if (!wrong)
		__atomic_store_n(&python.phase, PY_ON, __ATOMIC_RELEASE);
	else if (!interrupted || __atomic_add_fetch(&tries, 1, __ATOMIC_RELAXED) >= TRIES)
		turn_off(wrong);
	return !wrong;
}

/* ---- search for the interpreter ---- */

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

/* Returns NULL, or why the interpreter cannot be walked.  *found: there is one, and it is initialized. */
static const char *search(const uint64_t *pcs, uint32_t n, bool *found)
{
	struct py_symbols *p = &python.symbols;
	uint32_t version = 0;

	if (p->runtime || (pcs ? find_among(pcs, n) : py_symbols_find(p)))
		version = py_symbols_version(p);
	*found = version && py_runs(p, version);
	if (!*found)
		return NULL;
	set_image();
	python.stays = p->low == low_at_start;
	python.layout.version = version;        /* for the message in health */
	return py_layout_fill(&python.layout, p, version);
}

/* Searches the objects that contain these addresses; pcs NULL: all objects. */
static void look_in_objects(const uint64_t *pcs, uint32_t n)
{
	uint32_t none = PY_NONE;
	const char *why = NULL;
	bool found = false;

	if (go_in() && __atomic_compare_exchange_n(&python.phase, &none, PY_LOOKING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		why = search(pcs, n, &found);
		if (why)
			turn_off(why);
		else
			__atomic_store_n(&python.phase, found ? PY_FOUND : PY_NONE, __ATOMIC_RELEASE);
	}
	come_out();
}

void python_forked(void)
{
	uint32_t looking = PY_LOOKING;

	first_thread = (uint64_t)pthread_self();
	inside = 0;
	closing = 0;
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
		look_in_objects(NULL, 0);
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
	look_in_objects(pcs, n);
	phase = __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE);
	if (phase == PY_OFF)
		say_why();
	return phase == PY_FOUND;
}

bool python_met_now_and_then(const uint64_t *pcs, uint32_t n)
{
	uint32_t looks, images;

	if (likely(__atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) != PY_NONE))
		return false;
	images = images_met();
	if (__atomic_exchange_n(&python.images, images, __ATOMIC_RELAXED) != images)
		__atomic_store_n(&python.looks, 0, __ATOMIC_RELAXED);
	looks = __atomic_fetch_add(&python.looks, 1, __ATOMIC_RELAXED);
	return (looks < 16 || looks % 256 == 0) && python_met(pcs, n);
}

uint32_t python_walk(const void *given, struct py_frame *out, uint32_t max, unsigned how)
{
	uint32_t phase = __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE);
	uint64_t state;
	uint32_t n;
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
	if (how & PY_GUARDED)
		return walk_state(state, out, max, WALK_INTERRUPTED, &broken);
	if (!(how & PY_SHARED))
		return walk_state(state, out, max, WALK_PLAIN, &broken);
	n = walk_state(state, out, max, WALK_GUARDED, &broken);
	return broken ? 0 : n;
}

const struct py_image *python_image(void)
{
	return __atomic_load_n(&python.phase, __ATOMIC_ACQUIRE) >= PY_FOUND && python.image.high ? &python.image : NULL;
}
