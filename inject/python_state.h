/* Shared by the parts of python*.c alone. */
#ifndef INJECT_PYTHON_STATE_H
#define INJECT_PYTHON_STATE_H

#include "inject/peek.h"
#include "inject/python.h"
#include "inject/python_layout.h"

enum py_phase { PY_NONE, PY_LOOKING, PY_FOUND, PY_ON, PY_OFF };

/* One interpreter per process: a second one in another object is not looked for. */
extern struct python {
	uint32_t phase;                 /* enum py_phase */
	uint32_t said;                  /* why_off stands in health: the epoch that said it */
	struct py_layout layout;
	struct py_symbols symbols;
	struct py_image image;
	const char *why_off;
} python;

static inline uint64_t py_load64(uint64_t address)
{
	return *(const volatile uint64_t *)(uintptr_t)address;
}

static inline uint32_t py_load32(uint64_t address)
{
	return *(const volatile uint32_t *)(uintptr_t)address;
}

/* The calling thread's state; 0: it has none, or Python ends and it is not the thread that ends it, or which one it is cannot be told. */
uint64_t python_thread_state(void);

/* The innermost frame of a thread state; plain loads. */
static inline uint64_t py_first_frame(const struct py_layout *l, uint64_t state)
{
	uint64_t frame = py_load64(state + l->state_frame);

	return l->cframe && frame ? py_load64(frame + l->cframe - 1) : frame;
}

/* A str as UTF-8, guarded; its length, -1 if it is none. */
#define PY_TEXT 4096u
int py_text(char out[PY_TEXT], uint64_t text);

/* Frames with this owner and above belong to the interpreter: they stand between eval calls.  3.12 on. */
#define PY_OWNER_C 3

static inline bool py_has_shims(const struct py_layout *l)
{
	return l->version >= PY_VERSION(3, 12);
}

/* As tagged pointers in 3.14; harmless before. */
#define PY_UNTAG (~(uint64_t)7)

#endif
