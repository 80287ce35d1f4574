/* What the reports about call stacks add up, by place, line or text of the stack. */
#ifndef ANALYZE_STACK_SITES_H
#define ANALYZE_STACK_SITES_H

#include "cli/analyze/report.h"
#include "cli/model/map.h"
#include "cli/model/stacks.h"

struct site {
	uint64_t key;
	uint64_t calls, launches, kernels, bytes, ranges;
	uint64_t python_samples, native_samples;        /* by what the innermost frame is */
	uint64_t untimed;               /* GPU rows without a time */
	uint64_t uncalled;              /* kernels whose call is not in the trace */
	int64_t call_ns, gpu_ns, range_ns;
	int64_t longest_ns;             /* of its calls, or of its ranges */
};

/* { 0 } is empty. */
struct sites {
	struct map index;
	struct site *list;
	size_t n, cap;
};

/* The site of a key, made if need be; NULL: out of memory.  Valid until the next call. */
struct site *sites_get(struct sites *s, uint64_t key);
void sites_release(struct sites *s);

/* Adds an event: what it is decides where. */
void site_add(struct model *m, struct site *at, const struct stack_event *e);

/* A sample's innermost frame is Python's. */
bool sample_is_python(struct model *m, uint32_t stack);

/* Frames of a stack as one text, innermost first, " <- " between them; "" of none. */
struct stack_text {
	struct model *m;
	uint32_t *frames;               /* room for the deepest */
	char *text;
	size_t size;
};

int stack_text_begin(struct stack_text *t, struct model *m);    /* 0, or -1: out of memory */
const char *stack_text(struct stack_text *t, uint32_t stack, enum stack_view view, size_t most);
void stack_text_end(struct stack_text *t);

/* Below a table: why there are no stacks, or what part has none. */
void note_stacks(struct model *m, struct table *t, uint64_t without, const char *of_what);
void note_samples(struct model *m, struct table *t);

#endif
