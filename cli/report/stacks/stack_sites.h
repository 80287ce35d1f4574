/* Sums over the events of call stacks, for reports by place, line or text of the stack. */
#ifndef CLI_REPORT_STACKS_STACK_SITES_H
#define CLI_REPORT_STACKS_STACK_SITES_H

#include "cli/model/map.h"
#include "cli/model/stacks/stacks.h"
#include "cli/report/parts/report.h"

struct site {
	uint64_t key;
	uint64_t calls, launches, kernels, bytes, ranges;
	uint64_t python_samples, native_samples;        /* samples whose innermost frame is Python; all others */
	uint64_t untimed;               /* GPU rows without a time */
	uint64_t uncalled;              /* kernels whose call is not in the trace */
	int64_t call_ns, gpu_ns, range_ns;
	int64_t longest_ns;             /* of the longest call or range */
};

/* { 0 } is empty. */
struct sites {
	struct map index;
	struct site *list;
	size_t n, cap;
};

/* The site of a key, created if missing.  Returns NULL when out of memory.  The pointer is valid until the next call. */
struct site *sites_get(struct sites *s, uint64_t key);
void sites_release(struct sites *s);

/* Adds an event to the fields of its kind. */
void site_add(struct model *m, struct site *at, const struct stack_event *e);

/* Whether the innermost frame of a sample's stack is a Python frame.  stack: position in model_stacks()->list. */
bool sample_is_python(struct model *m, uint32_t stack);

/* Samples per second of a thread's CPU time; 0: not recorded, or not the same in all sampled processes. */
double samples_per_second(struct model *m);
/* CPU time in ns of a number of samples.  hz > 0. */
int64_t samples_ns(uint64_t samples, double hz);

/* Buffers for the text of a stack. */
struct stack_text {
	struct model *m;
	uint32_t *frames;               /* room for the deepest stack */
	char *text;
	size_t size;
};

/* Returns 0, or -1 when out of memory; stack_text_end() in any case. */
int stack_text_begin(struct stack_text *t, struct model *m);
/*
 * The frames of a stack as one text, innermost first, " <- " between them; "" when there are none.  view: which frames; most: at most this
 * number of the innermost of them, 0: all.  The text is valid until the next call.
 */
const char *stack_text(struct stack_text *t, uint32_t stack, enum stack_view view, size_t most);
void stack_text_end(struct stack_text *t);

/* Notes why no call has a stack; else, when without > 0, that so many of_what ("calls") have none. */
void note_stacks(struct model *m, struct table *t, uint64_t without, const char *of_what);
/* Notes why the trace, or the selected part of it, has no CPU samples; nothing when it has some. */
void note_samples(struct model *m, struct table *t);

#endif
