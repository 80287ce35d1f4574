/* tb_kernels, tb_kernels_by_operator: the plugin's kernel tables (kernel_parser.py, op_agg.py). */
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/map.h"
#include "cli/model/model.h"

#include <math.h>
#include <stdlib.h>

#define SHARED_COLUMNS \
	{ "worker", COLUMN_TEXT | COLUMN_RARE }, { "rank", COLUMN_ID }, { "calls", 0 }, { "total_ns", COLUMN_KEY }, { "mean_ns", 0 }, { "max_ns", 0 }, \
	{ "min_ns", 0 }, { "blocks_per_sm", 0 }, { "est_achieved_occupancy_pct", 0 }, { "tensor_cores", COLUMN_TEXT }
#define SHARED 10

static const struct heading columns[] = { SHARED_COLUMNS, { "name", COLUMN_TEXT } };
static const struct heading operator_columns[] = {
	SHARED_COLUMNS, { "grid", COLUMN_TEXT }, { "block", COLUMN_TEXT }, { "registers_per_thread", 0 }, { "shared_bytes", 0 },
	{ "tensor_core_eligible", COLUMN_TEXT }, { "operator", COLUMN_TEXT | COLUMN_KEY }, { "name", COLUMN_TEXT },
};

struct kernel_sum {
	const struct tb_event *first;
	uint32_t operator;              /* string id; TB_NONE: not known */
	bool eligible;
	uint64_t calls;
	int64_t total, max, min;
	double blocks, occupancy;       /* sums of value * duration */
	bool has_blocks, has_occupancy;
};

static void add_event(struct kernel_sum *s, const struct tb_event *e)
{
	int64_t duration = time_sub(e->end, e->start);

	s->max = !s->calls || duration > s->max ? duration : s->max;
	s->min = !s->calls || duration < s->min ? duration : s->min;
	s->calls++;
	s->total = time_add(s->total, duration);
	if (isfinite(e->blocks)) {
		s->has_blocks = true;
		s->blocks += e->blocks * (double)duration;
	}
	if (isfinite(e->occupancy)) {
		s->has_occupancy = true;
		s->occupancy += e->occupancy * (double)duration;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct kernel_sum *x = a, *y = b;

	return (x->total < y->total) - (x->total > y->total);
}

/* Number of a pair, for use in keys: pairs are numbered from 0 as they occur.  MAP_NONE: out of memory. */
static uint32_t number_of(struct map *pairs, uint64_t pair)
{
	bool new = false;
	uint32_t *at = map_put(pairs, pair, (uint32_t)pairs->n, &new);

	return at ? *at - 1 : MAP_NONE;
}

struct keys {
	struct map operators, configs;  /* pairs of operator and name; of process and configuration */
};

/* Number of the launch configuration of a kernel. */
static uint32_t config_number(struct keys *k, const struct tb_event *e)
{
	return number_of(&k->configs, (uint64_t)e->process << 32 | e->config);
}

static struct kernel_sum *sums_of(const struct tb_run *r, const struct tb_tree *tree, size_t *n)
{
	struct kernel_sum *list = calloc(r->n + 1, sizeof *list);
	struct keys k = { { 0 }, { 0 } };
	struct map index = { 0 };

	*n = 0;
	for (size_t i = 0; list && i < r->n; i++) {
		const struct tb_event *e = &r->events[i];
		uint32_t node = tree ? tb_node_of(tree, e) : TB_NONE, *at;
		const struct tb_event *op = node == TB_NONE ? NULL : &r->events[tree->nodes[node].event];
		uint64_t key = e->name;
		bool new = false;

		if (e->type != TB_KERNEL)
			continue;
		if (tree)
			key = (uint64_t)number_of(&k.operators, (uint64_t)(op ? op->name : TB_NONE) << 32 | e->name) << 32 |
			      config_number(&k, e);
		at = map_put(&index, key, (uint32_t)*n, &new);
		if (!at) {
			free(list);
			list = NULL;
			break;
		}
		if (new)
			list[(*n)++] = (struct kernel_sum){ .first = e, .operator = op ? op->name : TB_NONE,
						     .eligible = op && op->flags & TB_ELIGIBLE };
		add_event(&list[*at - 1], e);
	}
	map_release(&k.operators);
	map_release(&k.configs);
	map_release(&index);
	if (list && *n)
		qsort(list, *n, sizeof *list, by_time);
	return list;
}

/* Mean weighted by duration, with two decimals. */
static struct cell weighted(const struct kernel_sum *s, double sum, bool known)
{
	return !known ? UNKNOWN : FIXED(s->total > 0 ? tb_round(100 * sum / (double)s->total) : 0, 2);
}

static void put_kernel(const struct tb_run *r, struct table *t, const struct kernel_sum *s, bool by_operator)
{
	const struct config_row *c = by_operator ? model_config(r->m, s->first->process, s->first->config) : NULL;
	struct cell name = TEXT(table_keep(t, "%s", model_string(r->m, s->first->name)));
	struct cell cells[SHARED + 7] = {
		TEXT(table_keep(t, "%s", r->worker)), tb_rank(r), NUMBER(s->calls), NUMBER(s->total),
		FIXED(((__int128)s->total * 10 + (int64_t)s->calls / 2) / (int64_t)s->calls, 1), NUMBER(s->max), NUMBER(s->min),
		weighted(s, s->blocks, s->has_blocks), weighted(s, s->occupancy, s->has_occupancy),
		r->nameless ? UNKNOWN : TEXT(s->first->flags & TB_TENSOR ? "yes" : "no"), name,
	};

	if (by_operator) {
		struct cell *more = &cells[SHARED];

		more[0] = c && c->grid_x ? TEXT(table_keep(t, "[%u, %u, %u]", c->grid_x, c->grid_y, c->grid_z)) : UNKNOWN;
		more[1] = c && c->block_x ? TEXT(table_keep(t, "[%u, %u, %u]", c->block_x, c->block_y, c->block_z)) : UNKNOWN;
		more[2] = c ? NUMBER(c->registers) : UNKNOWN;
		more[3] = c ? NUMBER((uint64_t)c->static_shared + c->dynamic_shared) : UNKNOWN;
		more[4] = s->operator != TB_NONE ? TEXT(s->eligible ? "yes" : "no") : UNKNOWN;
		more[5] = s->operator != TB_NONE ? TEXT(table_keep(t, "%s", model_string(r->m, s->operator))) : UNKNOWN;
		more[6] = name;
	}
	table_row(t, cells);
}

static int put_run(struct tb_run *r, struct table *t, bool by_operator, bool *unknown)
{
	const struct tb_tree *tree = by_operator ? tb_tree_of(r) : NULL;
	struct kernel_sum *list;
	size_t n = 0;
	int rc;

	if (by_operator && !tree)
		return -1;
	list = sums_of(r, tree, &n);
	for (size_t i = 0; list && i < n; i++) {
		put_kernel(r, t, &list[i], by_operator);
		*unknown |= list[i].operator == TB_NONE;
	}
	rc = list ? 0 : -1;
	free(list);
	return rc;
}

static int kernels(struct model *m, struct table *t, const struct report_choice *choice, bool by_operator)
{
	struct tb_job *job = tb_get(m, choice);
	bool unknown = false;
	int rc = job ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < job->n; i++)
		rc = put_run(&job->runs[i], t, by_operator, &unknown);
	if (rc == 0 && !t->n_rows)
		table_note(t, "no kernels: the trace has none");
	if (by_operator && unknown)
		table_note(t, "the operator is unknown for kernels that no recorded operator launched");
	tb_done(job, choice);
	return rc;
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	return kernels(m, t, choice, false);
}

static int run_by_operator(struct model *m, struct table *t, const struct report_choice *choice)
{
	return kernels(m, t, choice, true);
}

const struct report report_tb_kernels = {
	.name = "tb_kernels",
	.title = "Kernels",
	.help = "Which kernels take the time, with blocks per SM and tensor cores?",
	.needs = NEED_GPU,
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};

const struct report report_tb_kernels_by_operator = {
	.name = "tb_kernels_by_operator",
	.title = "Kernels by Operator and Launch Configuration",
	.help = "Which kernels take the time, by operator and launch configuration?",
	.needs = NEED_GPU,
	.whole = true,
	.ranks = true,
	COLUMNS(operator_columns),
	.run_chosen = run_by_operator,
};
