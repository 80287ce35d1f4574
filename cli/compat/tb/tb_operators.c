/* tb_operators, tb_operators_by_shape: the plugin's operator table (op_agg.py). */
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/map.h"
#include "cli/model/model.h"

#include <stdlib.h>

#define SHARED_COLUMNS \
	{ "worker", COLUMN_TEXT | COLUMN_RARE }, { "rank", COLUMN_ID }, { "calls", 0 }, { "device_self_ns", 0 }, { "device_total_ns", 0 }, \
	{ "host_self_ns", 0 }, { "host_total_ns", 0 }, { "tensor_core_eligible", COLUMN_TEXT | COLUMN_RARE }, \
	{ "tensor_core_self_pct", COLUMN_RARE }, { "tensor_core_total_pct", COLUMN_RARE }, { "name", COLUMN_TEXT | COLUMN_KEY }

static const struct heading columns[] = { SHARED_COLUMNS };
static const struct heading shape_columns[] = { SHARED_COLUMNS, { "input_shapes", COLUMN_TEXT | COLUMN_PLAIN } };

struct operator_sum {
	uint32_t name, dims;
	uint64_t calls;
	bool eligible;                  /* of the first call */
	int64_t device_self, device, host_self, host, tensor_self, tensor;
};

static void add_node(struct operator_sum *s, const struct tb_node *n)
{
	s->calls++;
	s->device_self = time_add(s->device_self, n->device_self);
	s->device = time_add(s->device, n->device);
	s->host_self = time_add(s->host_self, n->host_self);
	s->host = time_add(s->host, time_sub(n->end, n->start));
	s->tensor_self = time_add(s->tensor_self, n->tensor_self);
	s->tensor = time_add(s->tensor, n->tensor);
}

static int by_time(const void *a, const void *b)
{
	const struct operator_sum *x = a, *y = b;

	if (x->device_self != y->device_self)
		return x->device_self < y->device_self ? 1 : -1;
	return (x->host_self < y->host_self) - (x->host_self > y->host_self);
}

/* Sums of a run by name, or by name and shapes; the caller frees the list.  NULL: out of memory. */
static struct operator_sum *sums_of(const struct tb_run *r, const struct tb_tree *tree, bool shapes, size_t *n)
{
	struct operator_sum *list = calloc(tree->n_operators + 1, sizeof *list);
	struct map index = { 0 };

	*n = 0;
	for (size_t i = 0; list && i < tree->n_operators; i++) {
		const struct tb_node *node = &tree->nodes[tree->operators[i]];
		const struct tb_event *e = &r->events[node->event];
		uint32_t dims = shapes ? e->dims : 0, *at;
		bool new = false;

		at = map_put(&index, (uint64_t)dims << 32 | e->name, (uint32_t)*n, &new);
		if (!at) {
			free(list);
			list = NULL;
			break;
		}
		if (new)
			list[(*n)++] = (struct operator_sum){ .name = e->name, .dims = dims, .eligible = node->eligible };
		add_node(&list[*at - 1], node);
	}
	map_release(&index);
	if (list && *n)
		qsort(list, *n, sizeof *list, by_time);
	return list;
}

static int put_run(struct tb_run *r, struct table *t, bool shapes, bool *unknown)
{
	size_t n = 0;
	const struct tb_tree *tree = tb_tree_of(r);
	struct operator_sum *list = tree ? sums_of(r, tree, shapes, &n) : NULL;
	bool device = false;
	int rc;

	for (size_t i = 0; list && i < n; i++)
		device |= list[i].device != 0;
	*unknown |= !device && n;
	for (size_t i = 0; list && i < n; i++) {
		const struct operator_sum *s = &list[i];

		table_row(t, (struct cell[]){
				     TEXT(table_keep(t, "%s", r->worker)), tb_rank(r), NUMBER(s->calls),
				     device ? NUMBER(s->device_self) : UNKNOWN, device ? NUMBER(s->device) : UNKNOWN,
				     NUMBER(s->host_self), NUMBER(s->host), TEXT(s->eligible ? "yes" : "no"),
				     r->nameless ? UNKNOWN : tb_percent((double)s->tensor_self, (double)s->device_self),
				     r->nameless ? UNKNOWN : tb_percent((double)s->tensor, (double)s->device),
				     TEXT(table_keep(t, "%s", model_string(r->m, s->name))),
				     s->dims ? TEXT(table_keep(t, "%s", model_string(r->m, s->dims))) : UNKNOWN });
	}
	if (tree && tree->crossing)
		table_note(t, "%s: %zu events overlap other events of their thread without nesting; they are left out",
			   r->worker, tree->crossing);
	rc = list ? 0 : -1;
	free(list);
	return rc;
}

static int operators(struct model *m, struct table *t, const struct report_choice *choice, bool shapes)
{
	struct tb_job *job = tb_get(m, choice);
	bool unknown = false;
	int rc = job ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < job->n; i++)
		rc = put_run(&job->runs[i], t, shapes, &unknown);
	if (rc == 0 && !t->n_rows)
		table_note(t, "no operators: the trace has none (-t cuda,nvtx,torch-ops records them)");
	if (unknown)
		table_note(t, "device time is unknown where no GPU row is linked to an operator");
	tb_done(job, choice);
	return rc;
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	return operators(m, t, choice, false);
}

static int run_by_shape(struct model *m, struct table *t, const struct report_choice *choice)
{
	return operators(m, t, choice, true);
}

const struct report report_tb_operators = {
	.name = "tb_operators",
	.title = "Operators",
	.help = "Which operators take the time on host and GPU?",
	.needs = NEED_OPS,
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};

const struct report report_tb_operators_by_shape = {
	.name = "tb_operators_by_shape",
	.title = "Operators by Shapes of Their Inputs",
	.help = "Which operators with which input shapes take the time?",
	.needs = NEED_OPS,
	.whole = true,
	.ranks = true,
	COLUMNS(shape_columns),
	.run_chosen = run_by_shape,
};
