/*
 * Native frames of the calling thread, by plain reads of its own stack: no allocation, no lock, no loader; safe in a signal handler.  The
 * stack is read only where it is known to be mapped, and each frame must be above the one before.
 *
 * How a frame is left depends on its code:
 *   it has rules in .eh_frame	parsed once for each return address, then cached (x86-64)
 *   it has none, or was generated	the frame pointer, if it points to something like a frame
 *   it has rules that rule_make() cannot read	libunwind, if installed (unwind_lib.c)
 */
#ifndef INJECT_UNWIND_UNWIND_H
#define INJECT_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* most frames of a walk: 128 that can be asked for, and the innermost ones of this object and CUPTI */
#define UNWIND_MOST 144u

enum unwind_method { UNWIND_AUTO, UNWIND_FP, UNWIND_DWARF, UNWIND_LIBUNWIND, UNWIND_NONE };     /* setting backtrace */

/* Registers of the frame where a walk begins. */
struct unwind_cursor {
	uint64_t pc, sp, bp, bx;        /* on aarch64 bp is x29, and bx is unused */
	const void *context;            /* the ucontext_t that they are from; NULL: from a running function */
};

struct unwind_walk {
	/* innermost first: address of the call in each frame (return address - 1), or the pc of an interrupted frame */
	uint64_t pcs[UNWIND_MOST];
	uint64_t sps[UNWIND_MOST];      /* each frame's stack pointer; they grow, except from a signal handler's stack to another */
	uint32_t n;
	uint32_t flags;                 /* STACK_CUT, STACK_INCOMPLETE */
};

/* Sets *c to the calling function's own frame. */
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

/* Sets *c to the frame that a signal handler interrupted; ucontext: the handler's third argument. */
void unwind_context(struct unwind_cursor *c, const void *ucontext);

/* Walks the calling thread's stack; writes at most `most` frames (and UNWIND_MOST) and flags to *w.  method: the setting. */
void unwind_native(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most, enum unwind_method method);

/* Finds the bounds of the first thread's stack.  Call once, at load. */
void unwind_init(void);

/* ---- unwind_rules.c: one word that says how to leave a frame ---- */

struct image;

/*
 * Bits 0-3: kind.  4-31: offset of the CFA (signed).  32-47: where rbp was saved, 48-63: where rbx was, as distance from the CFA in words
 * (signed); 0: unchanged.
 */
enum rule_kind {
	RULE_NONE,                      /* no rule for this address */
	RULE_SP, RULE_BP, RULE_BX,      /* the CFA is that register + offset */
	RULE_AT_BP,                     /* the CFA is stored at rbp + offset, and rbp where rbp points: a realigned stack */
	RULE_AT_SP,                     /* the CFA is the word at rsp + (offset >> 13), plus offset & 8191: assembly */
	RULE_PLT,                       /* an entry of the procedure linkage table */
	RULE_SIGNAL,                    /* the return from a signal handler: all registers are in its context */
	RULE_END,                       /* the outermost frame */
	RULE_FAIL,                      /* there are rules, but of other kinds */
};

/* Parts of a rule: enum rule_kind; offset of the CFA in bytes; places of rbp and rbx in words from the CFA, 0: unchanged. */
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

/* Makes the rule for an address in the image from its .eh_frame.  Reads only inside the image's segments, whatever they contain. */
uint64_t rule_make(const struct image *image, uint64_t pc);

/* ---- unwind_lib.c: libunwind, if there is one ---- */

/* Loads libunwind; not on a hot path. */
void unwind_lib_load(void);

/* unwind_lib_want() asks for libunwind; unwind_lib_wanted() is then true until unwind_lib_load() was called. */
bool unwind_lib_wanted(void);
void unwind_lib_want(void);

/* Walks with libunwind; arguments as for unwind_native().  False: it is not loaded, or cannot walk here. */
bool unwind_lib_walk(const struct unwind_cursor *from, struct unwind_walk *w, uint32_t most);

#endif
