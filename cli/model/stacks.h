/*
 * Call stacks as people read them: each frame a place in the code.  Native addresses become functions through the symbols in
 * the trace (gprof-trace resolve writes them), else they stay "libcuda.so.1+0x1234"; Python frames become lines through
 * the line tables of their code objects.  Made when first asked for: who does not ask pays nothing.
 */
#ifndef MODEL_STACKS_H
#define MODEL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* String ids are the model's; STRING_NONE: not known. */
struct function {
	uint32_t name;                  /* qualified, without its module */
	uint32_t file;
	uint32_t line;                  /* where a Python function begins; 0: not known */
	uint32_t image;                 /* path of the ELF file that a native one is in */
	bool python;
	bool named;                     /* false: no symbol was found, and name is where it lies */
};

/* A line of a function; equal ones of all processes are one. */
struct place {
	uint32_t function;              /* position in functions */
	uint32_t file, line;            /* line 0: not known */
};

struct call_stack {
	uint32_t process, id;           /* position in model_processes(); id of the stack row */
	uint32_t flags;                 /* STACK_ of trace/records.h */
	uint32_t first, n;              /* its frames, innermost first: positions in frames */
};

struct stacks {
	const struct function *functions;
	const struct place *places;
	const uint32_t *frames;         /* positions in places */
	const struct call_stack *list;
	size_t n_functions, n_places, n;
};

#define NO_STACK UINT32_MAX
#define NO_PLACE UINT32_MAX

/* NULL: out of memory.  It stays the model's. */
const struct stacks *model_stacks(struct model *m);

/* Position in the list of the stack with this id, or NO_STACK.  model_stacks() must have been called. */
uint32_t model_stack(const struct model *m, uint32_t process, uint32_t id);

/*
 * The place that a stack is put down to: its innermost Python frame in code of the user's, else its innermost Python
 * frame, else its innermost native frame with a line, else its innermost one; functions of CUDA and NVTX themselves, and
 * what compilers put before a launch, are passed over.  NO_PLACE: it has none of these.
 */
uint32_t stack_site(struct model *m, uint32_t stack);

/* Not of the standard library, not of installed packages, not made by the interpreter. */
bool file_is_users(const char *path);

/* "train.py" of "/home/me/train.py" when the session began in /home/me; packages without what is before them. */
const char *file_short(struct model *m, uint32_t file);

/* "main (train.py:12)", "at::add (libtorch.so)", "libcuda.so.1+0x1234"; a function without a line for line 0. */
void place_text(struct model *m, const struct place *p, char *text, size_t size);

/* Which frames of a stack are looked at. */
enum stack_view { VIEW_MIXED, VIEW_NATIVE, VIEW_PYTHON, VIEW_LINE };

/* Those of a stack, innermost first, the first most of them, into out (room for frames of the deepest stack); their number. */
size_t stack_frames(struct model *m, uint32_t stack, enum stack_view view, size_t most, uint32_t *out);
/* The most frames that a stack has. */
size_t stacks_deepest(const struct stacks *s);

/* ---- what stacks hang on ---- */

#define EVENT_CALL   1u         /* a CUDA call */
#define EVENT_KERNEL 2u         /* a kernel, or a graph that is one row */
#define EVENT_COPY   4u
#define EVENT_SET    8u
#define EVENT_SAMPLE 16u
#define EVENT_RANGE  32u        /* an NVTX range whose begin has a stack */
#define EVENT_GPU    (EVENT_KERNEL | EVENT_COPY | EVENT_SET)

struct stack_event {
	unsigned kind;
	uint32_t process;
	uint32_t stack;                 /* position in the list; NO_STACK: none was recorded.  Of what the GPU did, that of the call */
	size_t row;                     /* of its kind: api, kernel, graph, memcpy, memset, sample, range */
	size_t call;                    /* GPU: the row of the call that caused it; NO_ROW: not in the trace */
	uint32_t name;                  /* string id of the call, the kernel or the range; STRING_NONE: it has no name */
	uint32_t copy_kind;             /* of a copy */
	int64_t start, ns;              /* ns -1: CUPTI gave no time */
	uint64_t bytes;                 /* of a copy or set */
	bool first;                     /* GPU: of those of its kind, the first one of its call */
	bool whole_graph;
};

/* Calls fn for every event of these kinds, calls first and ranges last.  0, or -1: fn said so, or out of memory. */
int model_stack_events(struct model *m, unsigned kinds, int (*fn)(const struct stack_event *e, void *arg), void *arg);

/* By range row: position in the list of the stack that it was begun on, or NO_STACK.  free() it; NULL: out of memory. */
uint32_t *model_range_stacks(struct model *m);

/* Whether any CUDA call or range has a stack, and whether samples were taken, even if none lies in what is looked at. */
bool model_has_call_stacks(struct model *m);
bool model_has_range_stacks(const struct model *m);
bool model_has_samples(struct model *m);

/* Text of a source file as it was embedded, line 1 and up; NULL: not in the trace.  n: its length, without the newline. */
const char *model_source_line(struct model *m, uint32_t file, uint32_t line, size_t *n);

#endif
