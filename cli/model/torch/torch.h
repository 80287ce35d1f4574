/*
 * PyTorch's ranges (operators, autograd nodes, user scopes) with PyTorch's data about them (op rows), and the phases of training.  The same
 * for recorded (-t torch) and imported traces.  Built on first use.
 */
#ifndef CLI_MODEL_TORCH_TORCH_H
#define CLI_MODEL_TORCH_TORCH_H

#include "cli/model/torch/phases.h"

struct model;

#define TORCH_DOMAIN "PyTorch"          /* NVTX domain of PyTorch's ranges */

enum torch_scope { TORCH_OPERATOR = 0, TORCH_BACKWARD = 1, TORCH_USER = 7 };     /* at::RecordScope */

#define NO_TORCH UINT32_MAX

struct torch_range {
	int64_t start, end;
	uint32_t row, op;               /* its range row; its op row, NO_TORCH: none */
	uint32_t parent;                /* position of the PyTorch range around it on its thread; NO_TORCH: none, or a start/end range */
	uint32_t process;               /* position in model_processes() */
	uint32_t thread, name, scope, flags;    /* flags: RANGE_ bits */
};

struct torch_ranges {
	struct torch_range *list;       /* by process, then start, outer ranges first */
	size_t n;
	const uint32_t *at;             /* by range row: position in list, or NO_TORCH */
	const uint32_t *parents;        /* by range row, of all domains: model_range_parents() */
	const uint32_t *around;         /* by range row: torch_around() */
	/* columns of ops, by torch_range.op */
	const int64_t *sequence;
	const uint64_t *fwd_thread, *torch_thread;
	const uint32_t *dims, *types, *values, *overload;
	bool operators;                 /* the trace has operators, not only autograd nodes and user scopes */
};

/* All PyTorch ranges; owned by the model, valid until model_select().  NULL: out of memory. */
const struct torch_ranges *model_torch(struct model *m);

/* Whether there are PyTorch ranges; does not build model_torch(). */
bool model_has_torch(struct model *m);

/* Number of PyTorch ranges; SIZE_MAX: out of memory. */
size_t model_torch_count(struct model *m);

/* Position of the innermost PyTorch range that contains a range row, or is that row; NO_TORCH: none. */
uint32_t torch_around(const struct torch_ranges *t, size_t range_row);

/*
 * The innermost range, of list[at] and the ranges around it, that has not ended at a time.  Needed because a range around may end first: a
 * Python function that begins in one step can end in the next.
 */
uint32_t torch_open_at(const struct torch_ranges *t, uint32_t at, int64_t time);

/* Text of a scope: "operator", "backward", "user". */
const char *torch_scope_words(unsigned scope);

/*
 * By position in list: the operator that created the autograd node in its forward; NO_TORCH: none.  An operator has at most one node.  As
 * in torch.profiler, the last operator that began with a sequence number is linked to the first node with it.  free() it; NULL: out of
 * memory.
 */
uint32_t *torch_forwards(struct model *m, const struct torch_ranges *t);

/* Name prefix of the autograd engine's range around a node; in Kineto's files it has the node's sequence number and thread. */
#define TORCH_EVALUATE "autograd::engine::evaluate_function: "

/* Phases by position in model_processes(), always of the whole process, also if steps are selected.  NULL: out of memory. */
const struct phases *model_phases(struct model *m);

#endif
