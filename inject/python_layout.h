/* Where CPython keeps what a stack is made of: which interpreter this process has, and the offsets in its objects. */
#ifndef INJECT_PYTHON_LAYOUT_H
#define INJECT_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PY_VERSION(major, minor) ((major) << 8 | (minor))
#define PY_OLDEST PY_VERSION(3, 8)
#define PY_NEWEST PY_VERSION(3, 14)

enum py_instruction {
	PY_LASTI_BYTES,         /* int: byte offset */
	PY_LASTI_UNITS,         /* int: code units */
	PY_POINTER,             /* pointer into the code object */
};

/* 0: this version has no such field, where 0 cannot be its place. */
struct py_layout {
	uint32_t version;               /* PY_VERSION */
	uint16_t free_threaded;
	uint16_t instruction;           /* enum py_instruction */
	uint16_t state_frame;           /* thread state: the innermost frame, or with `cframe` the record that holds it */
	uint16_t state_thread;          /* thread state: pthread_self() */
	uint16_t cframe;                /* state_frame leads to a record on the C stack; 0: no, else 1 + the place of the frame in it */
	uint16_t state_chain;           /* thread state: records on the C stack, one an eval call, up to 3.11 */
	uint16_t chain_previous;
	uint16_t frame_previous, frame_code, frame_instruction, frame_owner, frame_entry, frame_tlbc;
	uint16_t frame_size;            /* how much of a frame is read */
	uint16_t code_file, code_name, code_qualname, code_first_line, code_lines, code_code, code_tlbc;
	uint16_t code_size;             /* how much of a code object is read */
	uint16_t text_length, text_state, text_ascii, text_other;
	uint16_t bytes_size, bytes_data;
	uint16_t object_type;
	uint16_t runtime_finalizing;
	uint16_t runtime_interpreters;  /* head and, behind it, main; up to 3.11 */
	uint16_t frame_locals;          /* arguments and local variables */
};

/* The interpreter as the loader has it; found by its exported symbols, whatever object exports them. */
struct py_symbols {
	uint64_t runtime;               /* _PyRuntime */
	uint64_t code_type, text_type, bytes_type;
	uint64_t version, get_version;  /* Py_Version (3.11 on), Py_GetVersion() */
	uint64_t this_state;            /* PyGILState_GetThisThreadState() */
	uint64_t holder_state;          /* _PyThreadState_UncheckedGet(), up to 3.12 */
	uint64_t cell_type;             /* of variables that inner functions use */
	uint64_t eval, eval_size;       /* _PyEval_EvalFrameDefault() */
	uint64_t low, high;             /* the object's addresses */
};

/*
 * Looks through the objects that are loaded, if any came since the last look.  Takes the loader's short lock (that of its list, never
 * that of dlopen).  True: *symbols is complete.
 */
bool py_symbols_find(struct py_symbols *symbols);

/* The same of one object that is known to be there, without any lock: base is what its addresses are moved by, low where it begins. */
bool py_symbols_in(struct py_symbols *symbols, uint64_t base, uint64_t low);

/* hex >> 16 of the version; 0: not yet known. */
uint32_t py_symbols_version(const struct py_symbols *symbols);

/* Fills *layout.  NULL, or why not. */
const char *py_layout_fill(struct py_layout *layout, const struct py_symbols *symbols, uint32_t version);

/* The members of code objects are where their type says they are.  Reads guarded. */
bool py_layout_agrees(const struct py_layout *layout, const struct py_symbols *symbols);

#endif
