/*
 * libunwind, for code whose rules rule_make() cannot read.  Loaded with dlopen(): if a preloaded object were linked with it, its _Unwind_*
 * would come before libgcc's, and each C++ exception of the program would cost twenty times as much.
 */
#include "inject/core/scratch.h"
#include "inject/unwind/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <ucontext.h>

#include "inject/unwind/images.h"
#include "trace/records.h"

static uint32_t wanted;

void unwind_lib_want(void)
{
	__atomic_store_n(&wanted, 1, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)

#define REG_SP 7
#define REG_IP 16

/* A cursor of libunwind 1.6 to 1.8 has 1016 bytes. */
union cursor {
	char bytes[2048];
	uint64_t align;
};

static struct {
	int (*getcontext)(ucontext_t *context);
	int (*init_local)(union cursor *c, ucontext_t *context);
	int (*step)(union cursor *c);
	int (*get_reg)(union cursor *c, int reg, uint64_t *value);
	int (*is_signal_frame)(union cursor *c);
	void (*flush_cache)(void *space, uint64_t low, uint64_t high);
	void **space;
	uint32_t generation;
	uint32_t state;                 /* 0: not searched for; 1: loaded; 2: not available */
} lib;

bool unwind_lib_wanted(void)
{
	return __atomic_load_n(&wanted, __ATOMIC_RELAXED) && !__atomic_load_n(&lib.state, __ATOMIC_RELAXED);
}

void unwind_lib_load(void)
{
	void *handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	if (handle) {
		*(void **)&lib.getcontext = dlsym(handle, "_Ux86_64_getcontext");
		*(void **)&lib.init_local = dlsym(handle, "_ULx86_64_init_local");
		*(void **)&lib.step = dlsym(handle, "_ULx86_64_step");
		*(void **)&lib.get_reg = dlsym(handle, "_ULx86_64_get_reg");
		*(void **)&lib.is_signal_frame = dlsym(handle, "_ULx86_64_is_signal_frame");
		*(void **)&lib.flush_cache = dlsym(handle, "_Ux86_64_flush_cache");
		lib.space = dlsym(handle, "_ULx86_64_local_addr_space");
	}
	dlerror();
	lib.generation = __atomic_load_n(&images_generation, __ATOMIC_ACQUIRE);
	__atomic_store_n(&lib.state, lib.getcontext && lib.init_local && lib.step && lib.get_reg ? 1 : 2, __ATOMIC_RELEASE);
}

/* Flushes libunwind's cache if an image was unloaded: it would use stale entries.  False: it cannot be flushed. */
static bool is_up_to_date(void)
{
	uint32_t generation = __atomic_load_n(&images_generation, __ATOMIC_ACQUIRE);

	if (lib.generation == generation)
		return true;
	if (!lib.flush_cache || !lib.space)
		return false;
	lib.flush_cache(*lib.space, 0, 0);
	lib.generation = generation;
	return true;
}

/* From scratch_push(), not on the program's stack; libunwind itself uses that stack. */
struct room {
	ucontext_t context;
	union cursor cursor;
};

static bool walk(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most, struct room *room)
{
	uint64_t pc, sp, before = from->sp;
	union cursor *c = &room->cursor;
	bool exact = false;
	int rc = 1;

	lib.getcontext(&room->context);
	if (lib.init_local(c, &room->context) < 0)
		return false;
	w->pcs[0] = from->pc;
	w->sps[0] = from->sp;
	w->n = 1;
	w->flags = 0;
	/* Frames of this object come first: skip those below the frame where the walk begins. */
	for (uint32_t i = 0; w->n < most && i < most + 64 && (rc = lib.step(c)) > 0; i++) {
		if (lib.get_reg(c, REG_IP, &pc) < 0 || lib.get_reg(c, REG_SP, &sp) < 0)
			break;
		if (!pc)
			return true;
		if (sp > from->sp) {
			if (sp == before)
				break;  /* a circular chain */
			before = sp;
			w->pcs[w->n] = exact ? pc : pc - 1;
			w->sps[w->n++] = sp;
		}
		/* The caller of a signal frame is the function that was interrupted. */
		exact = lib.is_signal_frame && lib.is_signal_frame(c) > 0;
	}
	if (rc > 0 && w->n == most)
		w->flags |= STACK_CUT;
	else if (rc != 0)
		w->flags |= STACK_INCOMPLETE;
	return true;
}

bool unwind_lib_walk(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most)
{
	struct room *room;
	int saved = errno;
	bool done;

	if (__atomic_load_n(&lib.state, __ATOMIC_ACQUIRE) != 1 || !is_up_to_date())
		return false;
	room = scratch_push(sizeof *room);
	done = room && walk(from, w, most < UNWIND_MOST ? most : UNWIND_MOST, room);
	scratch_pop(room);
	errno = saved;
	return done;
}

#else

bool unwind_lib_wanted(void)
{
	return false;
}

void unwind_lib_load(void)
{
}

bool unwind_lib_walk(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most)
{
	(void)from, (void)w, (void)most;
	return false;
}

#endif
