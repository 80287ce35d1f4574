/* Finds this process's CPython interpreter, and the offsets in its objects that a stack walk needs. */
#ifndef INJECT_PYTHON_PYTHON_LAYOUT_H
#define INJECT_PYTHON_PYTHON_LAYOUT_H

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

/* Byte offsets.  0: this version has no such field, except where 0 is a possible offset. */
struct py_layout {
	uint32_t version;               /* PY_VERSION */
	uint16_t free_threaded;
	uint16_t instruction;           /* enum py_instruction */
	uint16_t state_frame;           /* thread state: the innermost frame, or with `cframe` a record that points to it */
	uint16_t state_thread;          /* thread state: pthread_self() */
	/* 0: state_frame is the frame; else it is a record on the C stack, and this is 1 + the frame's offset in it */
	uint16_t cframe;
	uint16_t state_chain;           /* thread state: chain of records on the C stack, one for each eval call; 3.10 and 3.11 */
	uint16_t chain_previous;
	uint16_t frame_previous, frame_code, frame_instruction, frame_owner, frame_entry, frame_tlbc;
	uint16_t frame_size;            /* bytes of a frame that are read */
	uint16_t code_file, code_name, code_qualname, code_first_line, code_lines, code_code, code_tlbc;
	uint16_t code_size;             /* bytes of a code object that are read */
	uint16_t text_length, text_state, text_ascii, text_other;
	uint16_t bytes_size, bytes_data;
	uint16_t object_type;
	uint16_t runtime_finalizing;
	uint16_t runtime_interpreters;  /* head of the interpreter list, followed by the main interpreter; up to 3.11 */
	uint16_t frame_locals;          /* arguments and local variables */
};

/* Addresses of the interpreter's exported symbols, whichever object exports them. */
struct py_symbols {
	uint64_t runtime;               /* _PyRuntime */
	uint64_t code_type, text_type, bytes_type;
	uint64_t version;               /* Py_Version, 3.11 on */
	uint64_t in_3_8, in_3_9, in_3_10;       /* functions that these versions introduced; 0: absent */
	uint64_t this_state;            /* PyGILState_GetThisThreadState() */
	/* _PyThreadState_UncheckedGet(): state of the thread that holds the GIL; from 3.12 on of the calling thread, if it holds the GIL */
	uint64_t holder_state;
	uint64_t cell_type;             /* of variables that inner functions share */
	uint64_t eval, eval_size;       /* _PyEval_EvalFrameDefault() */
	uint64_t low, high;             /* address range of the object */
};

/*
 * Searches the loaded objects if any was loaded since the last search.  Takes the lock of the loader's list, never that of dlopen().  True:
 * *symbols is complete.
 */
bool py_symbols_find(struct py_symbols *symbols);

/* As py_symbols_find(), but always searches. */
bool py_symbols_present(struct py_symbols *symbols);

/* As py_symbols_find(), for the object mapped at `low`, whose load bias is `base`.  No lock; guarded reads. */
bool py_symbols_in(struct py_symbols *symbols, uint64_t base, uint64_t low);

/* True if an object with exactly these symbols is still loaded.  Takes the lock of the loader's list. */
bool py_symbols_hold(const struct py_symbols *symbols);

/* Returns the version as PY_VERSION(); 0: it cannot be read.  Guarded reads. */
uint32_t py_symbols_version(const struct py_symbols *symbols);

/* True if the interpreter is initialized.  Before that none of its functions may be called.  Guarded reads. */
bool py_runs(const struct py_symbols *symbols, uint32_t version);

/* Fills *layout for the version.  Returns NULL, or static text that says why it cannot. */
const char *py_layout_fill(struct py_layout *layout, const struct py_symbols *symbols, uint32_t version);

/* True if the code type's own table of members agrees with the layout.  Guarded reads. */
bool py_layout_agrees(const struct py_layout *layout, const struct py_symbols *symbols);

#endif
