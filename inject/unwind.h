/*
 * The native frames of the calling thread, by plain reads of its own stack: no allocation, no lock, no loader, safe in a signal
 * handler.  A thread's stack is only read where it is known to be mapped, and each frame has to lie above the one before it.
 *
 * How a frame is left is told by the module that its code lies in:
 *   rules in .eh_frame	parsed once for each return address, then one entry of a table (x86-64)
 *   none, or code that the process made	the frame pointer, if what it points to looks like a frame
 *   rules that we do not parse	libunwind, where there is one (unwind_lib.c)
 */
#ifndef INJECT_UNWIND_H
#define INJECT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_MOST 144u                /* frames in one walk: 128 that can be asked for, and those of ours and CUPTI's below them */

enum unwind_method { UNWIND_AUTO, UNWIND_FP, UNWIND_DWARF, UNWIND_LIBUNWIND, UNWIND_NONE };     /* setting backtrace */

/* Where a walk begins: the registers of a frame. */
struct unwind_cursor {
	uint64_t pc, sp, bp, bx;        /* on aarch64 bp is x29, and bx is not used */
	const void *context;            /* the ucontext_t that it was taken from; NULL: from a running function */
};

struct unwind_walk {
	uint64_t pcs[UNWIND_MOST];      /* address of the call in each frame, innermost first: return address - 1; the pc of an interrupted one */
	uint64_t sps[UNWIND_MOST];      /* its stack pointer; they grow, except from a signal handler's stack to another */
	uint32_t n;
	uint32_t flags;                 /* STACK_CUT, STACK_INCOMPLETE */
};

/* The calling function's own frame. */
static inline __attribute__((always_inline)) void unwind_here(struct unwind_cursor *c)
{
#if defined(__x86_64__)
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
			 : "=&r"(c->pc), "=&r"(c->sp), "=&r"(c->bp), "=&r"(c->bx));
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=&r"(c->pc), "=&r"(c->sp), "=&r"(c->bp));
	c->bx = 0;
#else
	c->pc = c->sp = c->bp = c->bx = 0;
#endif
	c->context = NULL;
}

/* What a signal handler was given as its third argument: the interrupted function's frame. */
void unwind_context(struct unwind_cursor *c, const void *ucontext);

/* At most `most` frames (UNWIND_MOST).  The method is that of the setting. */
void unwind_native(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most, enum unwind_method method);

/* Once, not on a hot path; asks the loader. */
void unwind_init(void);

/* ---- unwind_rules.c: one word that says how to leave a frame ---- */

struct image;

/*
 * bits 0-3 kind, 4-31 offset of the CFA (signed), 32-47 where rbp was saved and 48-63 where rbx was: distance from the CFA in words
 * (signed), 0: unchanged.
 */
enum rule_kind {
	RULE_NONE,                      /* no rule for this address */
	RULE_SP, RULE_BP, RULE_BX,      /* the CFA is that register and the offset */
	RULE_AT_BP,                     /* the CFA stands at rbp + offset, and rbp was saved where it points: a stack realigned */
	RULE_AT_SP,                     /* the CFA stands at rsp + (offset >> 13), and offset & 8191 is added: assembly */
	RULE_PLT,                       /* an entry of the procedure linkage table */
	RULE_SIGNAL,                    /* what a signal handler returns to: all registers are in its context */
	RULE_END,                       /* the outermost frame */
	RULE_FAIL,                      /* there are rules, but not of these kinds */
};

static inline unsigned rule_kind(uint64_t rule)
{
	return (unsigned)(rule & 15);
}

static inline int64_t rule_offset(uint64_t rule)
{
	return (int32_t)(uint32_t)rule >> 4;
}

static inline int64_t rule_bp(uint64_t rule)
{
	return (int16_t)(rule >> 32);
}

static inline int64_t rule_bx(uint64_t rule)
{
	return (int16_t)(rule >> 48);
}

/* From the image's .eh_frame, for an address in it.  Reads nothing outside of the image's segments, whatever they hold. */
uint64_t rule_make(const struct image *image, uint64_t pc);

/* ---- unwind_lib.c: libunwind, if there is one ---- */

/* Loads it; not on a hot path. */
void unwind_lib_load(void);

/* Somebody needed it, and nobody has looked for it yet. */
bool unwind_lib_wanted(void);
void unwind_lib_want(void);

/* The whole walk by it.  False: there is none. */
bool unwind_lib_walk(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most);

#endif
