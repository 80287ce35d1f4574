/* Sums of all metrics by stack, call and GPU work, for the formats that sum by call stack. */
#ifndef EXPORT_STACK_WEIGHTS_H
#define EXPORT_STACK_WEIGHTS_H

#include "cli/export/export.h"
#include "cli/model/stacks/stacks.h"

struct stack_weight {
	uint32_t process;
	uint32_t stack;                 /* NO_STACK: none was recorded */
	uint32_t call, leaf;            /* string ids: the CUDA call; the GPU work or the range.  STRING_NONE: none */
	int64_t values[METRICS];
};

struct stack_weights {
	struct model *m;
	const bool *takes;
	struct map pairs, index;
	struct stack_weight *list;
	size_t n, cap;
};

/* Sums all events.  0, or -1: out of memory; call stack_weights_release() in both cases. */
int stack_weights_make(struct stack_weights *w, struct export *x);
void stack_weights_release(struct stack_weights *w);

#endif
