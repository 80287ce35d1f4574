/*
 * Python call stacks of CPython 3.8 to 3.14, read from the interpreter's memory.  The only Python functions called are the getters of the
 * thread state; no references, no GIL.
 *
 * On the calling thread, inside a call that it made, the chain of frames cannot change and keeps the objects it refers to alive, so plain
 * loads are safe.  Two events break this:
 *
 * - Py_FinalizeEx() frees the thread states of all other threads and, from 3.11 on, their frames.  Each walk first checks with one load
 *   whether the interpreter is finalizing, and then reads nothing.  A program that embeds Python may finalize it at any time, also right
 *   after this check: there, a thread that does not hold the GIL uses guarded reads (PY_SHARED).  An interpreter that was loaded at program
 *   start is finalized at program end, and all threads use plain loads: guarded reads would cost 40 to 110 us at each launch from a thread
 *   pool.  The process's first thread is assumed to be the one that finalizes Python.
 * - dlclose() unmaps the library.  If the interpreter was not loaded at program start, the threads that are reading it are counted, and the
 *   interposed dlclose() waits for them.
 *
 * In a signal handler every read is guarded (PY_GUARDED).  Guarded reads verify the layout before the first plain load.
 */
#ifndef INJECT_PYTHON_PYTHON_H
#define INJECT_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/core/stream.h"

#define PY_GUARDED 1u           /* python_walk(): in a signal handler; the interpreter may be in any state */
#define PY_SHARED  2u           /* python_walk(): another thread may finalize the interpreter during the walk */
#define PY_HIDDEN  0xffffffffu  /* python_code_id(): an internal frame of the interpreter, which tracebacks omit */

struct py_frame {
	uint64_t code;          /* address of the code object */
	uint64_t c_stack;       /* entry frames: an address in the C frame of the eval call; 0: unknown (3.8, 3.9) */
	uint32_t offset;        /* byte offset of the instruction; STACK_NO_OFFSET: unknown */
	uint8_t entry;          /* the outermost frame of its eval call */
	uint8_t reserved[3];
};

/* Address range of the object that contains the interpreter, and of its eval function (as large as its symbol says). */
struct py_image {
	uint64_t low, high, eval_low, eval_high;
};

/*
 * Searches the loaded objects for an interpreter.  Costs 10 ns once one was found, or if no object was loaded since the last search.  Takes
 * the lock of the loader's list, which a callback of dl_iterate_phdr() may hold for any time: do not call it where the program waits.
 */
void python_look(void);

/* Call at load, on the loading thread.  preloaded: all objects mapped now were loaded at program start. */
void python_start(bool preloaded);

/* Call in a forked child: discards a search that another thread of the parent was in. */
void python_forked(void);

/*
 * Call before and after the real dlclose().  python_closing() keeps threads out of the interpreter and waits up to 20 ms for threads that
 * are reading it.  If it returns true, python_closed() must follow; it forgets the interpreter if it was unmapped.
 */
bool python_closing(void);
void python_closed(void);

/*
 * True if Python frames can be read on this thread now.  Writes a health note if an interpreter was found but cannot be walked.  Do not
 * call in a signal handler or while a row is reserved.
 */
bool python_ready(void);

/*
 * Search the objects that contain these addresses for an interpreter, without locks; safe in a signal handler.  Return true if this call
 * found one.  python_met_now_and_then() searches at the first 16 calls after a new image was met, then at every 256th.
 */
bool python_met(const uint64_t *pcs, uint32_t n);
bool python_met_now_and_then(const uint64_t *pcs, uint32_t n);

/* Returns the flags for python_walk() on the calling thread, outside a signal handler: 0 or PY_SHARED. */
unsigned python_how(void);

/*
 * Writes the innermost max frames, innermost first; returns their number.  state: a thread state, or NULL for the calling thread's.  how:
 * PY_ flags.  Returns 0 when the thread runs no Python or the stack cannot be read.
 */
uint32_t python_walk(const void *state, struct py_frame *out, uint32_t max, unsigned how);

/* Returns the id of the frame's code object, and writes its rows if it is new.  PY_HIDDEN: internal frame; 0: it cannot be described. */
uint32_t python_code_id(struct stream *s, const struct py_frame *frame);

/* As python_code_id(), for frames of a guarded walk: their code objects may be freed or incomplete. */
uint32_t python_code_id_guarded(struct stream *s, const struct py_frame *frame);

/* True if the code's file is in a library's folder or part of the interpreter.  Call right after python_code_id() returned id. */
bool python_is_library(const struct py_frame *frame, uint32_t id);

/* Returns the address ranges of the interpreter; NULL: none was found. */
const struct py_image *python_image(void);

/*
 * Returns the id of the current launch's call site: a stack of its three innermost Python frames, user code preferred to libraries.  0:
 * none.  Call inside stream_enter(), with no row reserved.
 */
uint32_t python_site(struct stream *s);

#endif
