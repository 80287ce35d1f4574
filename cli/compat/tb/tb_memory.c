/* tb_memory, tb_memory_peaks: memory allocated by operators (memory_parser.py), and the peak of each device. */
#include "cli/compat/tb/tb_memory.h"
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/map.h"
#include "cli/model/model.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "device", COLUMN_TEXT }, { "calls", 0 }, { "self_increase_bytes", 0 },
	{ "increase_bytes", 0 }, { "self_allocations", 0 }, { "allocations", 0 }, { "self_allocated_bytes", 0 },
	{ "allocated_bytes", 0 }, { "name", COLUMN_TEXT },
};

static const struct heading peak_columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "device", COLUMN_TEXT }, { "peak_allocated_bytes", 0 },
	{ "peak_reserved_bytes", 0 }, { "memory_bytes", 0 },
};

/* ---- operators of allocations ---- */

/* The operator of each allocation.  Allocations of a thread, by time, are walked along with its tree. */
struct given {
	uint32_t *node;                 /* by allocation: the operator around it; TB_NONE: none */
	bool *entered;                  /* by node: an allocation is in it */
};

struct tree_cursor {
	const struct tb_tree *t;
	uint32_t at, child;             /* node of the last allocation; the next of its children to look at */
};

static uint32_t node_at(struct tree_cursor *w, struct given *g, int64_t time)
{
	const struct tb_node *nodes = w->t->nodes;

	while (w->at != TB_NONE && time >= nodes[w->at].end) {
		w->child = nodes[w->at].next;
		w->at = nodes[w->at].parent;
	}
	if (w->at == TB_NONE || time < nodes[w->at].start)
		return TB_NONE;
	while (w->child != TB_NONE && time >= nodes[w->child].start) {
		if (time >= nodes[w->child].end) {
			w->child = nodes[w->child].next;
			continue;
		}
		g->entered[w->child] = true;
		w->at = w->child;
		w->child = nodes[w->at].first;
	}
	return w->at;
}

static void hand_out(struct given *g, const struct tb_run *r, const struct tb_tree *t, const struct tb_allocs *a)
{
	for (size_t i = 0; i < a->n; i++)
		g->node[i] = TB_NONE;
	for (size_t k = 0; k < t->n_roots; k++) {
		struct tree_cursor w = { t, t->roots[k], t->nodes[t->roots[k]].first };

		for (size_t i = a->first[k]; i < a->first[k + 1]; i++) {
			uint32_t at = node_at(&w, g, a->list[i].time);

			g->node[i] = at != TB_NONE && tb_is_operator(r, &t->nodes[at]) ? at : TB_NONE;
		}
	}
}

/* ---- sums ---- */

struct memory_sum {
	int64_t self, increase;         /* bytes allocated minus bytes freed; increase: with children */
	int64_t self_count, count, self_size, size;     /* allocations and their bytes, without frees */
};

struct operator_memory {
	uint32_t name;
	uint64_t calls;
	struct memory_sum sum;
};

static void add_sum(struct memory_sum *to, const struct memory_sum *s)
{
	to->self = time_add(to->self, s->self);
	to->increase = time_add(to->increase, s->increase);
	to->self_count += s->self_count;
	to->count += s->count;
	to->self_size = time_add(to->self_size, s->self_size);
	to->size = time_add(to->size, s->size);
}

/* Sums allocations on a device by node; without self_: with its children. */
static void sum_up(struct memory_sum *sums, const struct given *g, const struct tb_tree *t, const struct tb_allocs *a, uint32_t device)
{
	memset(sums, 0, t->n * sizeof *sums);
	for (size_t i = 0; i < a->n; i++) {
		const struct tb_alloc *one = &a->list[i];
		struct memory_sum s = { .self = one->bytes, .increase = one->bytes };

		if (g->node[i] == TB_NONE || one->device != device)
			continue;
		if (one->bytes > 0) {
			s.self_count = s.count = 1;
			s.self_size = s.size = one->bytes;
		}
		add_sum(&sums[g->node[i]], &s);
	}
	for (size_t i = t->n; i-- > 0;) {
		struct memory_sum up = { .increase = sums[i].increase, .count = sums[i].count, .size = sums[i].size };

		if (!t->nodes[i].gone && t->nodes[i].parent != TB_NONE)
			add_sum(&sums[t->nodes[i].parent], &up);
	}
}

static int by_increase(const void *a, const void *b)
{
	const struct operator_memory *x = a, *y = b;

	return x->sum.self != y->sum.self ? (x->sum.self < y->sum.self ? 1 : -1) :
	       (x->sum.increase < y->sum.increase) - (x->sum.increase > y->sum.increase);
}

/* As the plugin, counts calls of operators only if all operators above them have an allocation inside.  Parents come first. */
static void look_at_node(const struct tb_tree *t, const struct given *g, bool *looked, uint32_t at)
{
	uint32_t parent = t->nodes[at].parent;

	looked[at] = parent == TB_NONE || t->nodes[parent].parent == TB_NONE || (looked[parent] && g->entered[parent]);
}

static int put_device(const struct tb_run *r, struct table *t, const struct tb_tree *tree, const struct memory_sum *sums,
		      const bool *looked, uint32_t device)
{
	struct operator_memory *rows = calloc(tree->n_operators + 1, sizeof *rows);
	struct map index = { 0 };
	size_t n = 0;
	int rc = rows ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < tree->n_operators; i++) {
		uint32_t node = tree->operators[i], name = r->events[tree->nodes[node].event].name, *at;
		bool new = false;

		at = looked[node] ? map_put(&index, name, (uint32_t)n, &new) : NULL;
		if (!looked[node])
			continue;
		rc = at ? 0 : -1;
		if (new)
			rows[n++] = (struct operator_memory){ .name = name };
		if (at) {
			rows[*at - 1].calls++;
			add_sum(&rows[*at - 1].sum, &sums[node]);
		}
	}
	if (rc == 0 && n)
		qsort(rows, n, sizeof *rows, by_increase);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct memory_sum *s = &rows[i].sum;

		if (s->self || s->increase || s->count || s->self_count || s->size || s->self_size)
			table_row(t, (struct cell[]){
					     TEXT(table_keep(t, "%s", r->worker)), tb_rank(r),
					     TEXT(tb_memory_device(t, device)), NUMBER(rows[i].calls), NUMBER(s->self),
					     NUMBER(s->increase), NUMBER(s->self_count), NUMBER(s->count), NUMBER(s->self_size),
					     NUMBER(s->size), TEXT(table_keep(t, "%s", model_string(r->m, rows[i].name))) });
	}
	map_release(&index);
	free(rows);
	return rc;
}

static int put_tree(const struct tb_run *r, struct table *t, const struct tb_tree *tree)
{
	struct tb_allocs a;
	struct given g = { 0 };
	struct memory_sum *sums = malloc((tree->n + 1) * sizeof *sums);
	bool *looked = calloc(tree->n + 1, sizeof *looked);
	int rc = tb_allocs_make(&a, r, tree->tids, tree->n_roots);

	g.node = rc == 0 ? malloc((a.n + 1) * sizeof *g.node) : NULL;
	g.entered = calloc(tree->n + 1, sizeof *g.entered);
	rc = sums && looked && g.node && g.entered ? 0 : -1;
	if (rc == 0)
		hand_out(&g, r, tree, &a);
	for (uint32_t i = 0; rc == 0 && i < tree->n; i++)
		look_at_node(tree, &g, looked, i);
	for (size_t k = 0; rc == 0 && k < a.n_devices; k++) {
		sum_up(sums, &g, tree, &a, a.devices[k]);
		rc = put_device(r, t, tree, sums, looked, a.devices[k]);
	}
	tb_allocs_note(&a, r, t);
	tb_allocs_release(&a);
	free(g.node);
	free(g.entered);
	free(sums);
	free(looked);
	return rc;
}

static int put_run(struct tb_run *r, struct table *t)
{
	const struct tb_tree *tree = tb_tree_of(r);

	return tree ? put_tree(r, t, tree) : -1;
}

/* ---- peaks ---- */

static int put_peaks(struct tb_run *r, struct table *t)
{
	struct tb_allocs a;
	int rc = tb_allocs_make(&a, r, NULL, 0);

	for (size_t k = 0; rc == 0 && k < a.n_devices; k++) {
		struct tb_peak p = tb_peak_of(&a, a.devices[k]);
		const struct device_row *d = a.devices[k] == TB_CPU_MEMORY ? NULL : model_device(r->m, r->first_process, a.devices[k]);

		if (p.known)
			table_row(t, (struct cell[]){ TEXT(table_keep(t, "%s", r->worker)), tb_rank(r),
						      TEXT(tb_memory_device(t, a.devices[k])), NUMBER(p.allocated), NUMBER(p.reserved),
						      d && d->memory ? NUMBER(d->memory) : UNKNOWN });
	}
	tb_allocs_note(&a, r, t);
	tb_allocs_release(&a);
	return rc;
}

static int memory(struct model *m, struct table *t, const struct report_choice *choice,
		  int (*put_one)(struct tb_run *r, struct table *t))
{
	struct tb_job *job = tb_get(m, choice);
	int rc = job ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < job->n; i++)
		rc = put_one(&job->runs[i], t);
	if (rc == 0 && !t->n_rows)
		table_note(t, "the trace has no allocations of PyTorch (--torch-memory records them, torch.profiler with profile_memory)");
	tb_done(job, choice);
	return rc;
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	return memory(m, t, choice, put_run);
}

static int run_peaks(struct model *m, struct table *t, const struct report_choice *choice)
{
	return memory(m, t, choice, put_peaks);
}

const struct report report_tb_memory = {
	.name = "tb_memory",
	.title = "Memory by Operator",
	.help = "Which operators allocate memory?",
	.needs = NEED_ALLOC,
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};

const struct report report_tb_memory_peaks = {
	.name = "tb_memory_peaks",
	.title = "Peak Memory by Device",
	.help = "What is the peak of allocated and reserved memory of each device?",
	.needs = NEED_ALLOC,
	.whole = true,
	.ranks = true,
	COLUMNS(peak_columns),
	.run_chosen = run_peaks,
};
