/* Private to python*.c. */
#ifndef INJECT_PYTHON_PYTHON_STATE_H
#define INJECT_PYTHON_PYTHON_STATE_H

#include <string.h>

#include "inject/python/python.h"
#include "inject/python/python_layout.h"
#include "inject/unwind/peek.h"

enum py_phase { PY_NONE, PY_LOOKING, PY_FOUND, PY_ON, PY_OFF };

/* The process's interpreter.  A second interpreter in another object is not looked for. */
extern struct python {
	uint32_t phase;                 /* enum py_phase */
	uint32_t said;                  /* epoch in which why_off was written to health */
	uint32_t unloaded;              /* interpreters that were unmapped: cached addresses in them are invalid */
	uint32_t images, looks;         /* python_met_now_and_then(): images met, and calls since that number changed */
	bool stays;                     /* loaded at program start: no dlclose() unmaps it */
	struct py_layout layout;
	struct py_symbols symbols;
	struct py_image image;
	const char *why_off;
} python;

/* A plain load: the address must be mapped. */
static inline uint64_t py_load64(uint64_t address)
{
	return *(const volatile uint64_t *)(uintptr_t)address;
}

/* Changes at fork() and when an interpreter is unmapped: what is cached about an interpreter is valid for one epoch. */
static inline uint32_t py_epoch(void)
{
	return guest->epoch ^ __atomic_load_n(&python.unloaded, __ATOMIC_RELAXED) << 20;
}

/* As py_load64(), of 32 bits. */
static inline uint32_t py_load32(uint64_t address)
{
	return *(const volatile uint32_t *)(uintptr_t)address;
}

/* Returns the calling thread's state.  0: none, or another thread is finalizing Python, or the current interpreter is unknown. */
uint64_t python_thread_state(void);

/* True if plain loads through this state are safe.  False: another thread may finalize the interpreter and free it. */
bool python_is_safe(uint64_t state);

/* ---- reads, plain or guarded ---- */

/* Reads a word.  False: the address is implausible or, with guarded, cannot be read. */
static inline __attribute__((always_inline)) bool py_read64(uint64_t *value, uint64_t address, bool guarded)
{
	if (__builtin_expect(!peek_plausible(address), 0))
		return false;
	if (guarded)
		return peek(value, address, sizeof *value);
	*value = py_load64(address);
	return true;
}

/* Reads the innermost frame of a thread state. */
static inline __attribute__((always_inline)) bool py_first_frame(uint64_t *frame, const struct py_layout *l, uint64_t state, bool guarded)
{
	return py_read64(frame, state + l->state_frame, guarded) &&
	       (!l->cframe || (*frame && py_read64(frame, *frame + l->cframe - 1, guarded)));
}

/* A frame's first frame_size bytes: in place, or a copy for guarded reads. */
struct py_view {
	const char *at;
	char copy[128];
};

/* Opens a view of the frame.  False: the address is implausible or, with guarded, cannot be read. */
static inline __attribute__((always_inline)) bool py_view(struct py_view *v, const struct py_layout *l, uint64_t frame, bool guarded)
{
	if (__builtin_expect(!peek_plausible(frame), 0))
		return false;
	v->at = (const char *)(uintptr_t)frame;
	if (!guarded)
		return true;
	v->at = v->copy;
	return l->frame_size <= sizeof v->copy && peek(v->copy, frame, l->frame_size);
}

/* The 64 bits at this offset in the frame, which is below frame_size. */
static inline uint64_t py_view64(const struct py_view *v, uint16_t offset)
{
	uint64_t value;

	memcpy(&value, v->at + offset, sizeof value);
	return value;
}

/* As py_view64(), of 32 bits. */
static inline int32_t py_view32(const struct py_view *v, uint16_t offset)
{
	int32_t value;

	memcpy(&value, v->at + offset, sizeof value);
	return value;
}

/*
 * Cache entry of a described code object.  An address is reused soon after the object is freed, so four more fields must agree.  A sequence
 * lock: `number` is odd during a write.  `writer` tells whose write: a fork may leave an entry half-written by a thread of the parent,
 * which the child then overwrites.
 */
struct py_known {
	uint32_t number;
	uint32_t epoch;                 /* py_epoch(): ids are of one process */
	uint64_t code, file, name, lines;
	uint32_t first_line;
	uint32_t id;
	uint32_t library;
	uint32_t writer;                /* epoch of the process that is writing it; 0: none */
};

/* Returns the cache entry for this address. */
struct py_known *py_known_at(uint64_t code);

/* Writes a str as UTF-8, at most PY_TEXT / 4 characters.  Returns its length in bytes, -1 if it is not a readable str.  Guarded reads. */
#define PY_TEXT 4096u
int py_text(char out[PY_TEXT], uint64_t text);

/* Frames with this owner or a higher one are internal: they separate eval calls (3.12 on). */
#define PY_OWNER_C 3

/* Links to follow in order to find that many frames; the limit ends a circular chain. */
#define PY_LINKS(frames) (3 * (frames) + 16)

/* True if internal frames (PY_OWNER_C) separate eval calls. */
static inline bool py_has_shims(const struct py_layout *l)
{
	return l->version >= PY_VERSION(3, 12);
}

/* Removes the tag bits of pointers in 3.14; no effect before. */
#define PY_UNTAG (~(uint64_t)7)

#endif
