#include "inject/unwind/unwind.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "inject/core/memory.h"
#include "inject/unwind/images.h"
#include "inject/unwind/peek.h"
#include "trace/records.h"

#define PAGE 4096ull            /* smallest page size; larger pages are only tested more often than needed */

/* ---- cache of rules ---- */

/*
 * An entry is key ^ rule and rule: one torn by two writers matches no key.  The key includes the generation of the loaded images: rules of
 * unloaded images match nothing.  All threads use it without a lock; a forked child keeps it.
 */
#define CACHE_BITS 13
struct cached { uint64_t check, rule; };
static struct cached *cache, only_cached;       /* only_cached replaces the table when there is no memory */

static inline uint64_t key_of(uint64_t at)
{
	return at ^ (uint64_t)__atomic_load_n(&images_generation, __ATOMIC_ACQUIRE) << 48;
}

static inline struct cached *place_of(uint64_t key)
{
	struct cached *all = MEMORY_TABLE(cache, 1u << CACHE_BITS);

	return likely(all != NULL) ? &all[key * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS)] : &only_cached;
}

static inline bool cache_look(uint64_t key, uint64_t *rule)
{
	const struct cached *c = place_of(key);

	*rule = __atomic_load_n(&c->rule, __ATOMIC_RELAXED);
	return likely((__atomic_load_n(&c->check, __ATOMIC_RELAXED) ^ *rule) == key);
}

static void cache_put(uint64_t key, uint64_t rule)
{
	struct cached *c = place_of(key);

	if (__atomic_load_n(&images_unloading, __ATOMIC_SEQ_CST))
		return;         /* the rule may be of code that is being unloaded */
	__atomic_store_n(&c->check, key ^ rule, __ATOMIC_RELAXED);
	__atomic_store_n(&c->rule, rule, __ATOMIC_RELAXED);
}

/* ---- bounds of the stack ---- */

struct unwind_room {
	uint64_t high;          /* mapped from the frame up to this address */
	bool grows;             /* more may be mapped: not the thread's own stack (a coroutine's, a signal handler's) */
	unsigned left;          /* pages that may still be tested */
};

#define TRIED_PAGES 1024u       /* most pages of such a stack that are tested in one walk */
#define OWN_PAGES   64u         /* most pages tested to find that a thread is on its own stack */

/* own_low: this thread's own stack is known to be mapped down to here; 0: unknown.  foreign: 64 KiB that are known not to belong to it. */
static __thread uint64_t own_low __attribute__((tls_model("initial-exec")));
static __thread uint64_t foreign __attribute__((tls_model("initial-exec")));

static struct {
	uint64_t top, low;      /* of the first thread's stack: below the kernel's data, and as low as the limit allows */
	pthread_t thread;
} first;

void unwind_init(void)
{
	struct rlimit limit;
	uint64_t size = 8u << 20;

	if (first.top || syscall(SYS_gettid) != syscall(SYS_getpid))
		return;
	/* If no limit is lower, 128 MiB are kept free below the stack. */
	if (getrlimit(RLIMIT_STACK, &limit) == 0)
		size = limit.rlim_cur < 128u << 20 ? limit.rlim_cur : 128u << 20;
	first.thread = pthread_self();
	first.top = getauxval(AT_RANDOM) & ~7ull;
	first.low = first.top > size ? first.top - size : 0;
}

/* True if all of [from, top) is mapped.  False also if that is more than OWN_PAGES. */
static bool is_mapped(uint64_t from, uint64_t top)
{
	uint64_t at = (from & ~(PAGE - 1)) + PAGE;

	if (top < from || (top - from) / PAGE > OWN_PAGES)
		return false;
	for (; at < top; at += PAGE)
		if (!peek_mapped(at))
			return false;
	return true;
}

/*
 * Returns the bounds of the stack at sp.  libc puts the thread's descriptor (pthread_self()) on top of the thread's stack.
 * pthread_getattr_np() would tell the stack's bounds, but it calls malloc() and may read all of /proc/self/maps.
 */
static struct unwind_room room_at(uint64_t sp)
{
	bool is_first = first.top && pthread_equal(pthread_self(), first.thread);
	uint64_t top = is_first ? first.top : (uint64_t)pthread_self() & ~7ull;
	struct unwind_room own = { .high = top };

	if (sp < top && own_low && sp >= own_low)
		return own;
	if (is_first && sp < top && sp >= first.low) {
		own_low = sp;
		return own;
	}
	if (sp < top && foreign != (sp >> 16 | 1ull << 63)) {
		if (is_mapped(sp, own_low ? own_low : top)) {
			own_low = sp;
			return own;
		}
		foreign = sp >> 16 | 1ull << 63;
	}
	return (struct unwind_room){ .high = (sp & ~(PAGE - 1)) + PAGE, .grows = true, .left = TRIED_PAGES };
}

static __attribute__((noinline)) bool grow(struct unwind_room *r, uint64_t high)
{
	if (!r->grows || high < r->high)
		return false;
	for (; r->high < high; r->high += PAGE) {
		if (!r->left-- || !peek_mapped(r->high)) {
			r->grows = false;
			return false;
		}
	}
	return true;
}

/* True if the word at this address can be read.  The caller has checked that it is above the frame. */
static inline bool has(struct unwind_room *r, uint64_t at)
{
	return !(at & 7) && (likely(at + 8 <= r->high) || grow(r, at + 8)) && at + 8 > at;
}

static inline uint64_t load(uint64_t at)
{
	return *(const volatile uint64_t *)(uintptr_t)at;
}

/* ---- steps ---- */

struct unwind_frame {
	uint64_t pc, sp, bp, bx;
	bool exact;             /* pc is an interrupted instruction, not a return address */
};

enum step { STEP_ON, STEP_OUTERMOST, STEP_LOST };

#if defined(__aarch64__)

static bool is_call_before(uint64_t pc)
{
	uint32_t word;

	return peek(&word, pc - 4, 4) && ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000);
}

/* Removes the bits that sign a return address. */
static inline uint64_t plain(uint64_t pc)
{
	return pc & 0xffffffffffff;
}

#else

/* True if a call ends at pc: e8 and four bytes, or ff /2 with 2 to 7 bytes. */
static bool is_call_before(uint64_t pc)
{
	uint8_t bytes[8];

	if (!peek(bytes, pc - 8, 8))
		return false;
	if (bytes[3] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++)
		if (bytes[8 - length] == 0xff && (bytes[9 - length] & 0x38) == 0x10)
			return true;
	return false;
}

static inline uint64_t plain(uint64_t pc)
{
	return pc;
}

#endif

/* True if there is a call before pc.  For code in an image, the answer is cached. */
static bool is_return(uint64_t pc, bool quick)
{
	uint64_t key = key_of(pc) ^ 1ull << 63, rule;    /* differs from the key of pc's rule */

	if (cache_look(key, &rule))
		return true;
	if (!images_at(pc - 1, quick))
		return is_call_before(pc);
	if (!is_call_before(pc))
		return false;
	cache_put(key, RULE_BP);
	return true;
}

static enum step by_frame_pointer(struct unwind_frame *f, struct unwind_room *r, bool quick)
{
	uint64_t pc, bp;

	if (!f->bp)
		return STEP_OUTERMOST;
	if (f->bp < f->sp || !has(r, f->bp) || !has(r, f->bp + 8))
		return STEP_LOST;
	bp = load(f->bp);
	pc = plain(load(f->bp + 8));
	if (!pc)
		return STEP_OUTERMOST;
	if (!is_return(pc, quick))
		return STEP_LOST;
	f->sp = f->bp + 16;
	f->bp = bp;
	f->pc = pc;
	f->exact = false;
	return STEP_ON;
}

#if defined(__x86_64__)

/* Offsets of registers in the context that the kernel writes for a handler; rsp points to it when the handler has returned. */
#define CONTEXT_RBP 120
#define CONTEXT_RBX 128
#define CONTEXT_RSP 160
#define CONTEXT_RIP 168

/* Steps to the frame that the signal interrupted.  It may be on another stack, at higher or lower addresses. */
static enum step out_of_handler(struct unwind_frame *f, struct unwind_room *r)
{
	if (!has(r, f->sp + CONTEXT_RIP) || !has(r, f->sp))
		return STEP_LOST;
	f->bp = load(f->sp + CONTEXT_RBP);
	f->bx = load(f->sp + CONTEXT_RBX);
	f->pc = load(f->sp + CONTEXT_RIP);
	f->sp = load(f->sp + CONTEXT_RSP);
	f->exact = true;
	if (f->sp & 7 || !f->sp)
		return STEP_LOST;
	*r = room_at(f->sp);
	/* The interrupted stack is mapped, but the program may have written this context itself. */
	return r->grows && !peek_mapped(f->sp) ? STEP_LOST : STEP_ON;
}

/* CPython's trampolines for perf, 3.12 and 3.13: sub $8,%rsp; call; add $8,%rsp; ret. */
static bool is_trampoline(uint64_t pc)
{
	uint8_t bytes[5];

	return peek(bytes, pc, sizeof bytes) && memcmp(bytes, "\x48\x83\xc4\x08\xc3", sizeof bytes) == 0;
}

static __attribute__((noinline)) uint64_t rule_learn(uint64_t key, uint64_t at, bool exact, bool quick)
{
	const struct image *image = images_at(at, quick);
	uint64_t rule;

	if (!image)
		return !exact && is_trampoline(at + 1) ? RULE_SP | 16 << 4 : RULE_NONE;
	rule = rule_make(image, at);
	cache_put(key, rule);
	return rule;
}

#define RED_ZONE 128            /* bytes below the stack pointer that are not overwritten yet */

/* After a pop, rules still say that the register is saved where it was: just below the stack pointer. */
static inline bool take_saved(const struct unwind_frame *f, struct unwind_room *r, uint64_t at, uint64_t *value)
{
	if (unlikely(at < f->sp)) {
		if (at & 7 || f->sp - at > RED_ZONE || (at / PAGE != f->sp / PAGE && !peek_mapped(at)))
			return false;
	} else if (!has(r, at)) {
		return false;
	}
	*value = load(at);
	return true;
}

static enum step by_rules(struct unwind_frame *f, struct unwind_room *r, bool quick)
{
	uint64_t at = f->exact ? f->pc : f->pc - 1, key = key_of(at), rule, cfa;
	int64_t offset;

	if (unlikely(!cache_look(key, &rule)))
		rule = rule_learn(key, at, f->exact, quick);
	offset = rule_offset(rule);
	switch (rule_kind(rule)) {
	case RULE_SP:
		cfa = f->sp + (uint64_t)offset;
		break;
	case RULE_BP:
		cfa = f->bp + (uint64_t)offset;
		break;
	case RULE_BX:
		cfa = f->bx + (uint64_t)offset;
		break;
	case RULE_PLT:
		cfa = f->sp + 8 + ((at & 15) >= 11 ? 8 : 0);
		break;
	case RULE_AT_BP:
		if (f->bp < f->sp || !has(r, f->bp) || f->bp + (uint64_t)offset < f->sp || !has(r, f->bp + (uint64_t)offset))
			return STEP_LOST;
		cfa = load(f->bp + (uint64_t)offset);
		f->bp = load(f->bp);
		break;
	case RULE_AT_SP:
		if (!has(r, f->sp + ((uint64_t)offset >> 13)))
			return STEP_LOST;
		cfa = load(f->sp + ((uint64_t)offset >> 13)) + ((uint64_t)offset & 8191);
		break;
	case RULE_SIGNAL:
		return out_of_handler(f, r);
	case RULE_END:
		return STEP_OUTERMOST;
	case RULE_NONE:
		return by_frame_pointer(f, r, quick);
	default:
		return STEP_LOST;
	}
	if (cfa <= f->sp || !has(r, cfa - 8))
		return STEP_LOST;
	if (rule_bp(rule) && !take_saved(f, r, cfa + (uint64_t)(8 * rule_bp(rule)), &f->bp))
		return STEP_LOST;
	if (rule_bx(rule) && !take_saved(f, r, cfa + (uint64_t)(8 * rule_bx(rule)), &f->bx))
		return STEP_LOST;
	f->pc = load(cfa - 8);
	f->sp = cfa;
	f->exact = false;
	return f->pc ? STEP_ON : STEP_OUTERMOST;
}

/* True if this code has rules that only libunwind can read. */
static bool is_for_libunwind(const struct unwind_frame *f, bool quick)
{
	uint64_t at = f->exact ? f->pc : f->pc - 1;

	return rule_kind(rule_learn(key_of(at), at, f->exact, quick)) == RULE_FAIL;
}

#else

static enum step by_rules(struct unwind_frame *f, struct unwind_room *r, bool quick)
{
	return by_frame_pointer(f, r, quick);
}

static bool is_for_libunwind(const struct unwind_frame *f, bool quick)
{
	(void)f, (void)quick;
	return false;
}

#endif

/* ---- walks ---- */

void unwind_context(struct unwind_cursor *c, const void *ucontext)
{
	const ucontext_t *u = ucontext;

#if defined(__x86_64__)
	*c = (struct unwind_cursor){ .pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP], .sp = (uint64_t)u->uc_mcontext.gregs[REG_RSP],
				     .bp = (uint64_t)u->uc_mcontext.gregs[REG_RBP], .bx = (uint64_t)u->uc_mcontext.gregs[REG_RBX] };
#elif defined(__aarch64__)
	*c = (struct unwind_cursor){ .pc = u->uc_mcontext.pc, .sp = u->uc_mcontext.sp, .bp = u->uc_mcontext.regs[29] };
#else
	*c = (struct unwind_cursor){ 0 };
#endif
	c->context = ucontext;
}

void unwind_native(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most, enum unwind_method method)
{
	struct unwind_frame f = { .pc = from->pc, .sp = from->sp, .bp = from->bp, .bx = from->bx, .exact = true };
	bool quick = from->context != NULL;
	enum step step = STEP_ON;
	struct unwind_room room;

	w->n = w->flags = 0;
	if (method == UNWIND_NONE || !f.pc || f.sp & 7)
		return;
	if (method == UNWIND_LIBUNWIND && !quick && unwind_lib_walk(from, w, most))
		return;
	room = room_at(f.sp);
	if (most > UNWIND_MOST)
		most = UNWIND_MOST;
	while (w->n < most && step == STEP_ON) {
		w->pcs[w->n] = f.exact ? f.pc : f.pc - 1;
		w->sps[w->n++] = f.sp;
		step = method == UNWIND_FP ? by_frame_pointer(&f, &room, quick) : by_rules(&f, &room, quick);
	}
	if (step == STEP_ON)
		w->flags |= STACK_CUT;
	if (step != STEP_LOST)
		return;
	w->flags |= STACK_INCOMPLETE;
	if (method != UNWIND_AUTO || quick || !is_for_libunwind(&f, quick))
		return;
	if (!unwind_lib_walk(from, w, most))
		unwind_lib_want();
}
