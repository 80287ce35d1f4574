/*
 * Python stacks, CPython 3.8 to 3.14: which frames the interpreter runs on a thread, by reading its memory.  No Python API but the
 * getters of the thread state, no reference counts, no GIL.
 *
 * On the calling thread, inside a call that it made, the chain of frames cannot change and what it names is kept alive by it, so plain
 * loads are right; only a thread that outlives its interpreter must not look, which one load tells.  In a signal handler every read is
 * guarded (PY_GUARDED).  A layout that is not what it should be is noticed by guarded reads, before the first plain one.
 */
#ifndef INJECT_PYTHON_H
#define INJECT_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/stream.h"

#define PY_GUARDED 1u           /* python_walk(): memory may be any */
#define PY_HIDDEN  0xffffffffu  /* python_code_id(): a frame of the interpreter's own, which tracebacks do not show */

struct py_frame {
	uint64_t code;          /* address of the code object */
	uint64_t c_stack;       /* of an entry: an address in the C frame of its eval call; 0: not known (3.8, 3.9) */
	uint32_t offset;        /* byte offset of the instruction, STACK_NO_OFFSET where it has none */
	uint8_t entry;          /* the outermost frame of its eval call */
	uint8_t reserved[3];
};

/* The object that holds the interpreter: its addresses, and those of the eval function as far as its symbol goes. */
struct py_image {
	uint64_t low, high, eval_low, eval_high;
};

/*
 * Looks for an interpreter, as long as none was found, where objects were loaded since the last look (else it costs 10 ns).  Takes the
 * loader's short lock, which a callback of dl_iterate_phdr() may hold for as long as it likes: not where the program waits for us.
 */
void python_look(void);

/* In a forked child: a thread that is not there may have been looking. */
void python_forked(void);

/*
 * Can Python frames be had on this thread now?  Says in health why an interpreter that was found cannot be walked.  Not in a signal
 * handler, not while a row is reserved.
 */
bool python_ready(void);

/*
 * Looks at the objects that these addresses lie in, and no further; without any lock, also in a signal handler.  True: there was no
 * interpreter so far.
 */
bool python_met(const uint64_t *pcs, uint32_t n);

/* The innermost max frames, innermost first.  state NULL: those of the calling thread.  0: it runs no Python. */
uint32_t python_walk(const void *state, struct py_frame *out, uint32_t max, unsigned how);

/* Id of a frame's code object, described by rows when it is new; PY_HIDDEN; 0: it cannot be described. */
uint32_t python_code_id(struct stream *s, const struct py_frame *frame);

/* The same in a signal handler, where a frame may name what is a code object no longer, or not yet. */
uint32_t python_code_id_guarded(struct stream *s, const struct py_frame *frame);

/* Does its file lie in a library's folder, or in the interpreter itself?  Of a frame that python_code_id() has just described. */
bool python_is_library(const struct py_frame *frame);

/* The interpreter that was found; NULL: none. */
const struct py_image *python_image(void);

/*
 * Id of the launch at hand's site: a stack of its three innermost Python frames, those outside of libraries preferred; 0: none.  In a
 * stream, with nothing reserved.
 */
uint32_t python_site(struct stream *s);

#endif
