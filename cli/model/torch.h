/*
 * PyTorch's ranges: operators, autograd nodes and user scopes, each with what PyTorch told of it, and the phases of training
 * that follow from them.  Of own traces (-t torch) and imported ones alike.  Made when first asked for.
 */
#ifndef MODEL_TORCH_H
#define MODEL_TORCH_H

#include "cli/model/phases.h"

struct model;

#define TORCH_DOMAIN "PyTorch"          /* the domain that its ranges are in */

enum torch_scope { TORCH_OPERATOR = 0, TORCH_BACKWARD = 1, TORCH_USER = 7 };     /* at::RecordScope */

#define NO_TORCH UINT32_MAX

struct torch_range {
	int64_t start, end;
	uint32_t row, op;               /* row of its range; of what PyTorch told of it, NO_TORCH: nothing */
	uint32_t parent;                /* position of the one around it on its thread; NO_TORCH: none, or a start/end range */
	uint32_t process;               /* position in model_processes() */
	uint32_t thread, name, scope, flags;    /* flags: RANGE_ bits */
};

struct torch_ranges {
	struct torch_range *list;       /* by process, then start, the outer one first */
	size_t n;
	const uint32_t *at;             /* by range row: position in list, or NO_TORCH */
	const uint32_t *parents;        /* by range row, of all domains: model_range_parents() */
	const uint32_t *around;         /* by range row: torch_around() */
	/* columns of ops, by torch_range.op */
	const int64_t *sequence;
	const uint64_t *fwd_thread, *torch_thread;
	const uint32_t *dims, *types, *values, *overload;
	bool operators;                 /* there are operators, not only autograd nodes and user scopes */
};

/* NULL: out of memory.  It stays the model's until rows are selected. */
const struct torch_ranges *model_torch(struct model *m);

/* Whether there are any, without making the above. */
bool model_has_torch(struct model *m);

/* Of all ranges, how many are PyTorch's.  SIZE_MAX: out of memory. */
size_t model_torch_count(struct model *m);

/* Position of the innermost one that a range row is in, itself included; NO_TORCH: none. */
uint32_t torch_around(const struct torch_ranges *t, size_t range_row);

/*
 * Of a position in list and those around it the innermost that has not ended at a time.  A Python function that begins in one step
 * may end in the next: what is in the function then is not in the first step.
 */
uint32_t torch_open_at(const struct torch_ranges *t, uint32_t at, int64_t time);

/* A scope for people: "operator", "backward", "user". */
const char *torch_scope_words(unsigned scope);

/*
 * The operator whose forward made an autograd node: by position in list, NO_TORCH where there is none.  Each operator has one
 * node at most: as torch.profiler links them, the last operator to begin with the sequence number, and the first node.
 * free() it; NULL: out of memory.
 */
uint32_t *torch_forwards(struct model *m, const struct torch_ranges *t);

/* The range of the autograd engine around a node, which Kineto gives the node's numbers. */
#define TORCH_EVALUATE "autograd::engine::evaluate_function: "

/* Of every process, by position in model_processes(): the whole of it, also where steps are selected.  NULL: out of memory. */
const struct phases *model_phases(struct model *m);

#endif
