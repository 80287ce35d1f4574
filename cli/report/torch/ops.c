/*
 * ops, ops_by_shape, ops_by_stack: cost of PyTorch's operators, autograd nodes and user scopes.  Calls and times are counted as in
 * torch.profiler's key_averages(): a range inside another range of its name counts in the total of both, unless it is the only range
 * directly inside; then the two are one call.
 */
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/model/torch/torch_costs.h"
#include "cli/report/parts/choice.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/stats.h"
#include "cli/report/parts/why.h"
#include "cli/report/stacks/stack_sites.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>

#define OP_COLUMNS                                                                                                      \
	{ "self_host_pct", 0 }, { "self_host_ns", COLUMN_KEY }, { "host_pct", COLUMN_RARE }, { "host_ns", 0 }, \
	{ "host_mean_ns", COLUMN_RARE }, { "self_gpu_pct", COLUMN_SPARSE }, { "self_gpu_ns", COLUMN_SPARSE | COLUMN_KEY },         \
	{ "gpu_ns", COLUMN_SPARSE }, { "gpu_mean_ns", COLUMN_SPARSE | COLUMN_RARE }, { "calls", COLUMN_KEY },             \
	{ "backward_ns", COLUMN_SPARSE }, { "backward_gpu_ns", COLUMN_SPARSE | COLUMN_RARE },             \
	{ "flops", COLUMN_SPARSE }, { "flop_per_s", COLUMN_SPARSE | COLUMN_RARE },                        \
	{ "scope", COLUMN_TEXT | COLUMN_RARE }, { "name", COLUMN_TEXT | COLUMN_KEY }

static const struct heading columns[] = { OP_COLUMNS };
static const struct heading shape_columns[] = { OP_COLUMNS, { "input_dims", COLUMN_TEXT | COLUMN_PLAIN } };
static const struct heading stack_columns[] = { OP_COLUMNS, { "stack", COLUMN_TEXT | COLUMN_BELOW | COLUMN_LINES } };

#define MOST_COLUMNS (sizeof stack_columns / sizeof *stack_columns)

enum grouping { BY_NAME, BY_SHAPE, BY_STACK };

/* One row: all calls with the same name and detail.  Times in ns. */
struct op {
	uint32_t name, detail, scope;   /* detail: string id of the shapes or the stack; STRING_NONE: none */
	uint64_t calls;
	int64_t host, self, gpu, self_gpu;
	int64_t backward, backward_gpu; /* of the autograd nodes that the calls made */
	bool linked;                    /* the calls made autograd nodes */
	uint64_t flops, counted;        /* counted: number of calls with known FLOPs */
	int64_t counted_host, counted_gpu;      /* times of the calls with known FLOPs */
	bool overflow;                  /* of flops */
	uint64_t unshaped, open;        /* calls with unknown FLOPs: no shapes recorded; inputs do not determine them */
};

struct ops_report {
	struct model *m;
	struct table *t;
	const struct torch_ranges *torch;
	const struct torch_cost *costs;
	uint32_t *folded_into;          /* by range: the range whose call it counts to, mostly itself */
	enum grouping grouping;
	bool gpu;
	struct map index;               /* name << 32 | detail -> position in list */
	struct op *list;
	size_t n, cap;
	uint32_t *text_of;              /* BY_STACK: by range: string id of its stack's text; STRING_NONE: no stack */
	size_t stacks;                  /* number of ranges with a stack */
	unsigned __int128 all_self, all_self_gpu;       /* sums over all rows, the bases of the percentages */
};

static struct op *op_of(struct ops_report *w, uint32_t name, uint32_t detail, uint32_t scope)
{
	bool new;
	uint32_t *at = map_put(&w->index, (uint64_t)name << 32 | detail, (uint32_t)w->n, &new);

	if (!at)
		return NULL;
	if (new && !GROW(w->list, w->n + 1, w->cap))
		return NULL;
	if (new)
		w->list[w->n++] = (struct op){ .name = name, .detail = detail, .scope = scope };
	return &w->list[*at - 1];
}

static uint32_t detail_of(const struct ops_report *w, size_t i)
{
	const struct torch_range *r = &w->torch->list[i];

	if (w->grouping == BY_SHAPE)
		return r->op == NO_TORCH ? STRING_NONE : w->torch->dims[r->op];
	return w->grouping == BY_STACK ? w->text_of[i] : STRING_NONE;
}

/* Folds a range into its parent if it is the only child and has the same name.  A parent precedes its children in the list. */
static int fold(struct ops_report *w)
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

static struct op *op_at(struct ops_report *w, size_t i)
{
	const struct torch_range *r;

	i = w->folded_into[i];
	r = &w->torch->list[i];
	return op_of(w, r->name, detail_of(w, i), r->scope);
}

static int add_range(struct ops_report *w, size_t i)
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

/* Adds the times of autograd node i to the row of the operator `forward` that made it. */
static int link(struct ops_report *w, size_t i, uint32_t forward)
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

/* Fills text_of: the stack that each range started on. */
static int find_stacks(struct ops_report *w, const struct report_choice *choice)
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

/* FLOP per second of GPU time if the trace has GPU rows, else of host time.  False: no time, or too large. */
static bool rate_of(const struct ops_report *w, uint64_t flops, int64_t gpu, int64_t host, int64_t *rate)
{
	int64_t ns = w->gpu ? gpu : host;
	unsigned __int128 r;

	if (ns <= 0)
		return false;
	r = (unsigned __int128)flops * 1000000000u / (uint64_t)ns;
	*rate = (int64_t)r;
	return r <= INT64_MAX;
}

/* Columns and bases of percentages as in key_averages(): totals, too, are shares of the sum of self times. */
static void put_op(struct ops_report *w, const struct op *op)
{
	bool known = op->counted && !op->unshaped && !op->open && !op->overflow && op->flops <= INT64_MAX;
	struct cell cells[MOST_COLUMNS], *c = cells;
	int64_t rate;

	*c++ = FIXED(share((uint64_t)op->self, w->all_self), 1);
	*c++ = NUMBER(op->self);
	*c++ = FIXED(share((uint64_t)op->host, w->all_self), 1);
	*c++ = NUMBER(op->host);
	*c++ = op->calls ? NUMBER(((uint64_t)op->host + op->calls / 2) / op->calls) : UNKNOWN;
	*c++ = w->gpu ? FIXED(share((uint64_t)op->self_gpu, w->all_self_gpu), 1) : UNKNOWN;
	*c++ = w->gpu ? NUMBER(op->self_gpu) : UNKNOWN;
	*c++ = w->gpu ? NUMBER(op->gpu) : UNKNOWN;
	*c++ = w->gpu && op->calls ? NUMBER(((uint64_t)op->gpu + op->calls / 2) / op->calls) : UNKNOWN;
	*c++ = NUMBER(op->calls);
	*c++ = op->linked ? NUMBER(op->backward) : UNKNOWN;
	*c++ = op->linked && w->gpu ? NUMBER(op->backward_gpu) : UNKNOWN;
	*c++ = known ? NUMBER(op->flops) : UNKNOWN;
	*c++ = known && rate_of(w, op->flops, op->counted_gpu, op->counted_host, &rate) ? NUMBER(rate) : UNKNOWN;
	*c++ = TEXT(torch_scope_words(op->scope));
	*c++ = TEXT(model_string(w->m, op->name));
	if (w->grouping != BY_NAME)
		*c = op->detail == STRING_NONE ? UNKNOWN : TEXT(model_string(w->m, op->detail));
	table_row(w->t, cells);
}

/* "6.0 TFLOP", "512 GFLOP". */
static const char *flop_text(char text[32], double flop)
{
	static const char units[] = " kMGTPE";
	size_t i = 0;

	for (; flop >= 999.5 && units[i + 1]; i++)
		flop /= 1000;
	snprintf(text, 32, "%.*f %.*sFLOP", i && flop < 99.95 ? 1 : 0, flop, i > 0, units + i);
	return text;
}

static void note_flops(struct ops_report *w)
{
	uint64_t flops = 0, unshaped = 0, open = 0;
	int64_t gpu = 0, host = 0, rate;
	char counted[32], second[32];
	bool overflow = false;

	for (size_t i = 0; i < w->n; i++) {
		overflow |= w->list[i].overflow || __builtin_add_overflow(flops, w->list[i].flops, &flops);
		gpu = time_add(gpu, w->list[i].counted_gpu);
		host = time_add(host, w->list[i].counted_host);
		unshaped += w->list[i].unshaped;
		open += w->list[i].open;
	}
	if (flops && !overflow && rate_of(w, flops, gpu, host, &rate))
		table_note(w->t, "%s in operators with known shapes: %s/s of their %s time", flop_text(counted, (double)flops),
			   flop_text(second, (double)rate), w->gpu ? "GPU" : "host");
	if (unshaped)
		table_note(w->t, "flops: unknown for %llu calls, because shapes were not recorded (%s records them)", (unsigned long long)unshaped,
			   why_lacks(w->m, "gprof-run --torch-shapes", "torch.profiler: record_shapes=True"));
	if (open)
		table_note(w->t, "flops: unknown for %llu calls whose recorded inputs do not determine it: convolutions with neither "
			   "stride and padding nor a backward pass, and backward passes with unknown gradients",
			   (unsigned long long)open);
}

static void note_shares(struct ops_report *w)
{
	char host[32], gpu[32];

	if (!w->n)
		return;
	text_time(host, (int64_t)w->all_self);
	text_time(gpu, (int64_t)w->all_self_gpu);
	if (w->gpu)
		table_note(w->t, "self_host_pct and host_pct are shares of %s, the sum of self_host_ns of all rows; self_gpu_pct is a share of %s, that of self_gpu_ns",
			   host, gpu);
	else
		table_note(w->t, "self_host_pct is a share of %s, the sum of self_host_ns of all rows", host);
}

static void add_notes(struct ops_report *w)
{
	if (!w->n && !model_has_torch(w->m))
		table_note(w->t, "no rows of PyTorch: %s",
			   why_lacks(w->m, "-t cuda,nvtx,torch-ops records its operators where libtorch_cpu is loaded (see report -r health)",
				     "torch.profiler records its operators with ProfilerActivity.CPU"));
	else if (!w->n)
		table_note(w->t, "no rows of PyTorch in the selected part of the trace");
	else if (!w->torch->operators)
		table_note(w->t, "operators were not recorded, only autograd nodes and user scopes: %s",
			   why_lacks(w->m, "-t cuda,nvtx,torch-ops records them", NULL));
	if (w->n && w->grouping == BY_STACK && !w->stacks)
		table_note(w->t, "no range of PyTorch has a stack: %s",
			   why_lacks(w->m, "gprof-run --torch-stacks records them", "torch.profiler: with_stack=True"));
	note_shares(w);
	note_flops(w);
}

static int print(struct ops_report *w)
{
	if (w->n)
		qsort(w->list, w->n, sizeof *w->list, dearest_first);
	for (size_t i = 0; i < w->n; i++) {
		w->all_self += (uint64_t)w->list[i].self;
		w->all_self_gpu += (uint64_t)w->list[i].self_gpu;
	}
	for (size_t i = 0; i < w->n; i++)
		put_op(w, &w->list[i]);
	add_notes(w);
	return 0;
}

static int sum(struct ops_report *w, const uint32_t *forwards)
{
	if (fold(w) < 0)
		return -1;
	for (size_t i = 0; i < w->torch->n; i++)
		if (add_range(w, i) < 0)
			return -1;
	for (size_t i = 0; i < w->torch->n; i++)
		if (forwards[i] != NO_TORCH && link(w, i, forwards[i]) < 0)
			return -1;
	return print(w);
}

static int run_by(struct model *m, struct table *t, enum grouping grouping, const struct report_choice *choice)
{
	struct ops_report w = { .m = m, .t = t, .torch = model_torch(m), .grouping = grouping };
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
	.share = "",
	.title = "PyTorch Operators",
	.help = "Which PyTorch operators take the time on host and GPU, and how many FLOPs have they?",
	.needs = NEED_OPS,
	.adds = { ROW_op },
	COLUMNS(columns),
	.run = run_names,
};

const struct report report_ops_by_shape = {
	.name = "ops_by_shape",
	.share = "",
	.title = "PyTorch Operators by Shape",
	.help = "Which operators with which input shapes take the time?",
	.needs = NEED_OPS,
	.adds = { ROW_op },
	COLUMNS(shape_columns),
	.run = run_shapes,
};

const struct report report_ops_by_stack = {
	.name = "ops_by_stack",
	.share = "",
	.title = "PyTorch Operators by Stack",
	.help = "Which operators called from where take the time? (--by, --group-by-stack)",
	.needs = NEED_OPS,
	.adds = { ROW_op },
	COLUMNS(stack_columns),
	.run_chosen = run_stacks,
};
