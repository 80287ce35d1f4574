/*
 * ops, ops_by_shape, ops_by_stack: what PyTorch's operators, autograd nodes and user scopes cost.  Calls and times add up as in
 * torch.profiler's key_averages(): an operator inside another of its name counts twice in the total, unless it is all that is in
 * it; then they are one call.
 */
#include "cli/analyze/choice.h"
#include "cli/analyze/report.h"
#include "cli/analyze/stack_sites.h"
#include "cli/analyze/stats.h"
#include "cli/analyze/why.h"
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/model/torch_costs.h"

#include <stdlib.h>

#define OP_COLUMNS                                                                                                      \
	{ "self_host_pct", 0 }, { "self_host_ns", 0 }, { "host_ns", 0 }, { "self_gpu_ns", 0 }, { "gpu_ns", 0 },         \
	{ "backward_ns", 0 }, { "backward_gpu_ns", 0 }, { "flops", 0 }, { "flop_per_s", 0 }, { "calls", 0 },            \
	{ "scope", COLUMN_TEXT }, { "name", COLUMN_TEXT }

static const struct heading columns[] = { OP_COLUMNS };
static const struct heading shape_columns[] = { OP_COLUMNS, { "input_dims", COLUMN_TEXT } };
static const struct heading stack_columns[] = { OP_COLUMNS, { "stack", COLUMN_TEXT | COLUMN_BELOW | COLUMN_LINES } };

#define MOST_COLUMNS (sizeof stack_columns / sizeof *stack_columns)

enum grouping { BY_NAME, BY_SHAPE, BY_STACK };

/* What of a kind was called. */
struct op {
	uint32_t name, detail, scope;   /* detail: string id of the shapes or the stack; STRING_NONE: none */
	uint64_t calls;
	int64_t host, self, gpu, self_gpu;
	int64_t backward, backward_gpu; /* of the autograd nodes that these made */
	bool linked;                    /* there are such */
	uint64_t flops, counted;        /* counted: calls that take any */
	int64_t counted_host, counted_gpu;      /* of those */
	bool overflow;
	uint64_t unshaped, open;
};

struct work {
	struct model *m;
	struct table *t;
	const struct torch_ranges *torch;
	const struct torch_cost *costs;
	uint32_t *folded_into;          /* by position: the range that counts for it; itself, mostly */
	enum grouping grouping;
	bool gpu;
	struct map index;               /* name << 32 | detail -> position in list */
	struct op *list;
	size_t n, cap;
	uint32_t *text_of;              /* BY_STACK: by position of a range: string id of its stack's text */
	size_t stacks;                  /* that were found */
};

static struct op *op_of(struct work *w, uint32_t name, uint32_t detail, uint32_t scope)
{
	bool new;
	uint32_t *at = map_put(&w->index, (uint64_t)name << 32 | detail, (uint32_t)w->n, &new);

	if (!at)
		return NULL;
	if (new && w->n == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 256;
		struct op *list = realloc(w->list, cap * sizeof *list);

		if (!list)
			return NULL;
		w->list = list;
		w->cap = cap;
	}
	if (new)
		w->list[w->n++] = (struct op){ .name = name, .detail = detail, .scope = scope };
	return &w->list[*at - 1];
}

static uint32_t detail_of(const struct work *w, size_t i)
{
	const struct torch_range *r = &w->torch->list[i];

	if (w->grouping == BY_SHAPE)
		return r->op == NO_TORCH ? STRING_NONE : w->torch->dims[r->op];
	return w->grouping == BY_STACK ? w->text_of[i] : STRING_NONE;
}

/* A range that is alone in one of its name is folded into it, which stands before it in the list. */
static int fold(struct work *w)
{
	size_t n = w->torch->n;
	const struct torch_range *list = w->torch->list;
	uint32_t *children = calloc(n + 1, sizeof *children);

	w->folded_into = malloc((n + 1) * sizeof *w->folded_into);
	for (size_t i = 0; children && i < n; i++)
		if (list[i].parent < i)
			children[list[i].parent]++;
	for (size_t i = 0; children && w->folded_into && i < n; i++) {
		uint32_t up = list[i].parent;
		bool folded = up < i && children[up] == 1 && list[up].name == list[i].name;

		w->folded_into[i] = folded ? w->folded_into[up] : (uint32_t)i;
	}
	free(children);
	return children && w->folded_into ? 0 : -1;
}

static struct op *op_at(struct work *w, size_t i)
{
	const struct torch_range *r;

	i = w->folded_into[i];
	r = &w->torch->list[i];
	return op_of(w, r->name, detail_of(w, i), r->scope);
}

static int add(struct work *w, size_t i)
{
	const struct torch_cost *c = &w->costs[i];
	struct op *op = op_at(w, i);

	if (!op)
		return -1;
	op->self = time_add(op->self, c->self);
	op->self_gpu = time_add(op->self_gpu, c->self_gpu);
	if (w->folded_into[i] != i)
		return 0;
	op->calls++;
	op->host = time_add(op->host, c->host);
	op->gpu = time_add(op->gpu, c->gpu);
	op->unshaped += c->counted == FLOPS_UNSHAPED;
	op->open += c->counted == FLOPS_OPEN;
	if (c->counted == FLOPS_KNOWN) {
		op->counted++;
		op->counted_host = time_add(op->counted_host, c->host);
		op->counted_gpu = time_add(op->counted_gpu, c->gpu);
		op->overflow |= __builtin_add_overflow(op->flops, c->flops, &op->flops);
	}
	return 0;
}

/* Node i was made by operator forward. */
static int link(struct work *w, size_t i, uint32_t forward)
{
	struct op *op = op_at(w, forward);

	if (!op)
		return -1;
	op->linked = true;
	op->backward = time_add(op->backward, w->costs[i].host);
	op->backward_gpu = time_add(op->backward_gpu, w->costs[i].gpu);
	return 0;
}

/* ---- stacks ---- */

/* The text of the stack that each range was begun with. */
static int find_stacks(struct work *w, const struct report_choice *choice)
{
	uint32_t *stack_of = model_range_stacks(w->m);
	struct stack_text text;
	int rc = stack_of && model_stacks(w->m) ? stack_text_begin(&text, w->m) : -1;

	if (rc < 0) {
		free(stack_of);
		return -1;
	}
	for (size_t i = 0; i < w->torch->n && rc == 0; i++) {
		uint32_t stack = stack_of[w->torch->list[i].row], id;

		if (stack == NO_STACK)
			continue;
		id = model_intern(w->m, stack_text(&text, stack, choice->by, choice->group));
		rc = id == MAP_NONE ? -1 : 0;
		w->text_of[i] = id;
		w->stacks++;
	}
	stack_text_end(&text);
	free(stack_of);
	return rc;
}

/* ---- printing ---- */

static int dearest_first(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	if (x->self_gpu != y->self_gpu)
		return x->self_gpu > y->self_gpu ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->detail > y->detail) - (x->detail < y->detail);
}

/* Per second of the GPU's time where there is such, else of the host's. */
static bool rate_of(const struct work *w, uint64_t flops, int64_t gpu, int64_t host, int64_t *rate)
{
	int64_t ns = w->gpu ? gpu : host;
	unsigned __int128 r;

	if (ns <= 0)
		return false;
	r = (unsigned __int128)flops * 1000000000u / (uint64_t)ns;
	*rate = (int64_t)r;
	return r <= INT64_MAX;
}

static void put(struct work *w, const struct op *op, unsigned __int128 self)
{
	bool known = op->counted && !op->unshaped && !op->open && !op->overflow && op->flops <= INT64_MAX;
	struct cell cells[MOST_COLUMNS], *c = cells;
	int64_t rate;

	*c++ = FIXED(share((uint64_t)op->self, self), 1);
	*c++ = NUMBER(op->self);
	*c++ = NUMBER(op->host);
	*c++ = w->gpu ? NUMBER(op->self_gpu) : UNKNOWN;
	*c++ = w->gpu ? NUMBER(op->gpu) : UNKNOWN;
	*c++ = op->linked ? NUMBER(op->backward) : UNKNOWN;
	*c++ = op->linked && w->gpu ? NUMBER(op->backward_gpu) : UNKNOWN;
	*c++ = known ? NUMBER(op->flops) : UNKNOWN;
	*c++ = known && rate_of(w, op->flops, op->counted_gpu, op->counted_host, &rate) ? NUMBER(rate) : UNKNOWN;
	*c++ = NUMBER(op->calls);
	*c++ = TEXT(torch_scope_words(op->scope));
	*c++ = TEXT(model_string(w->m, op->name));
	if (w->grouping != BY_NAME)
		*c = op->detail == STRING_NONE ? UNKNOWN : TEXT(model_string(w->m, op->detail));
	table_row(w->t, cells);
}

static void note_flops(struct work *w)
{
	uint64_t flops = 0, unshaped = 0, open = 0;
	int64_t gpu = 0, host = 0, rate;
	bool overflow = false;

	for (size_t i = 0; i < w->n; i++) {
		overflow |= w->list[i].overflow || __builtin_add_overflow(flops, w->list[i].flops, &flops);
		gpu = time_add(gpu, w->list[i].counted_gpu);
		host = time_add(host, w->list[i].counted_host);
		unshaped += w->list[i].unshaped;
		open += w->list[i].open;
	}
	if (flops && !overflow && rate_of(w, flops, gpu, host, &rate))
		table_note(w->t, "%.4g GFLOP were counted, %.4g GFLOP/s of the %s time of those operators", (double)flops / 1e9,
			   (double)rate / 1e9, w->gpu ? "GPU" : "host");
	if (unshaped)
		table_note(w->t, "FLOPs are not known of %llu calls: shapes were not recorded (%s)", (unsigned long long)unshaped,
			   why_lacks(w->m, "--torch-shapes", "torch.profiler: record_shapes=True"));
	if (open)
		table_note(w->t, "FLOPs are not known of %llu calls whose inputs do not say: convolutions of which neither stride and padding "
			   "nor the backward pass is known, and backward passes of which it is not known which gradients they made",
			   (unsigned long long)open);
}

static void note(struct work *w)
{
	if (!w->n && !model_has_torch(w->m))
		table_note(w->t, "nothing of PyTorch's: %s",
			   why_lacks(w->m, "-t torch-ops records its operators where libtorch_cpu is loaded (see report -r health)",
				     "torch.profiler records its operators with ProfilerActivity.CPU"));
	else if (!w->n)
		table_note(w->t, "nothing of PyTorch's in this part of the trace");
	else if (!w->torch->operators)
		table_note(w->t, "operators were not recorded, only autograd nodes and user scopes: %s",
			   why_lacks(w->m, "-t torch-ops records them", NULL));
	if (w->n && w->grouping == BY_STACK && !w->stacks)
		table_note(w->t, "no range of PyTorch's has a stack: %s",
			   why_lacks(w->m, "gprof-run --torch-stacks records them", "torch.profiler: with_stack=True"));
	note_flops(w);
}

static int print(struct work *w)
{
	unsigned __int128 self = 0;

	if (w->n)
		qsort(w->list, w->n, sizeof *w->list, dearest_first);
	for (size_t i = 0; i < w->n; i++)
		self += (uint64_t)w->list[i].self;
	for (size_t i = 0; i < w->n; i++)
		put(w, &w->list[i], self);
	note(w);
	return 0;
}

static int sum(struct work *w, const uint32_t *forwards)
{
	if (fold(w) < 0)
		return -1;
	for (size_t i = 0; i < w->torch->n; i++)
		if (add(w, i) < 0)
			return -1;
	for (size_t i = 0; i < w->torch->n; i++)
		if (forwards[i] != NO_TORCH && link(w, i, forwards[i]) < 0)
			return -1;
	return print(w);
}

static int run_by(struct model *m, struct table *t, enum grouping grouping, const struct report_choice *choice)
{
	struct work w = { .m = m, .t = t, .torch = model_torch(m), .grouping = grouping };
	uint32_t *forwards = w.torch ? torch_forwards(m, w.torch) : NULL;
	struct torch_cost *costs = forwards ? torch_costs_make(m, w.torch, forwards, &w.gpu) : NULL;
	int rc = costs ? 0 : -1;

	w.costs = costs;
	if (rc == 0 && grouping == BY_STACK) {
		w.text_of = calloc(w.torch->n + 1, sizeof *w.text_of);
		rc = w.text_of ? find_stacks(&w, choice) : -1;
	}
	if (rc == 0)
		rc = sum(&w, forwards);
	free(forwards);
	free(costs);
	free(w.text_of);
	free(w.folded_into);
	free(w.list);
	map_release(&w.index);
	return rc;
}

static int run_names(struct model *m, struct table *t, const char *variant)
{
	(void)variant;
	return run_by(m, t, BY_NAME, NULL);
}

static int run_shapes(struct model *m, struct table *t, const char *variant)
{
	(void)variant;
	return run_by(m, t, BY_SHAPE, NULL);
}

static int run_stacks(struct model *m, struct table *t, const struct report_choice *choice)
{
	return run_by(m, t, BY_STACK, choice);
}

const struct report report_ops = {
	.name = "ops",
	.title = "PyTorch Operators",
	.help = "PyTorch: operators, autograd nodes and scopes by name: calls, host and GPU time, FLOPs",
	.adds = { ROW_op },
	COLUMNS(columns),
	.run = run_names,
};

const struct report report_ops_by_shape = {
	.name = "ops_by_shape",
	.title = "PyTorch Operators by Shape",
	.help = "the same by name and shapes of the inputs",
	.adds = { ROW_op },
	COLUMNS(shape_columns),
	.run = run_shapes,
};

const struct report report_ops_by_stack = {
	.name = "ops_by_stack",
	.title = "PyTorch Operators by Stack",
	.help = "the same by name and call stack; --by and --group-by-stack say which frames",
	.adds = { ROW_op },
	COLUMNS(stack_columns),
	.run_chosen = run_stacks,
};
