#include "cli/report/session/process_tree.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/report/session/wrappers.h"

#include <stdlib.h>

/* A process: processes are named by the position of their first image in model_processes(); 0 is the session, the root. */
struct node {
	uint32_t parent, child, next;   /* child: the first child; next: the next sibling */
	uint32_t walk;                  /* cut_cycles(): number of the walk that first met the process; 0: none yet */
	uint32_t depth, owner;          /* owner: the process whose folded line has this one */
	uint32_t folded, line;          /* of an owner: number of processes in its folded line; position of that line + 1 */
	bool quiet;                     /* neither the process nor a descendant recorded anything */
};

struct process_tree_builder {
	struct model *m;
	const struct process *all;
	struct node *nodes;
	uint32_t *order;                /* n positions: by start; after put_in_order() parents before their children */
	uint32_t n;
};

static int by_start(const void *a, const void *b, void *arg)
{
	const struct process *all = arg, *p = &all[*(const uint32_t *)a], *q = &all[*(const uint32_t *)b];

	if (p->start != q->start)       /* 0: not known, last */
		return !q->start || (p->start && p->start < q->start) ? -1 : 1;
	return p->image < q->image ? -1 : p->image > q->image;
}

static bool is_process(const struct process_tree_builder *k, uint32_t position)
{
	return position && !k->all[position].before && model_process_selected(k->m, position);
}

static void find_processes(struct process_tree_builder *k, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t parent = model_process_at(k->m, k->all[i].parent);

		if (!is_process(k, i))
			continue;
		k->order[k->n++] = i;
		k->nodes[i].parent = is_process(k, parent) ? parent : 0;
	}
	qsort_r(k->order, k->n, sizeof *k->order, by_start, (void *)k->all);
}

/* In a damaged file a process may be its own ancestor.  Cuts such a cycle at the process where a walk to the root returns. */
static void cut_cycles(struct process_tree_builder *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		uint32_t at = k->order[i], walk = i + 1;

		for (; at && !k->nodes[at].walk; at = k->nodes[at].parent)
			k->nodes[at].walk = walk;
		if (at && k->nodes[at].walk == walk)
			k->nodes[at].parent = 0;
	}
}

/* Links children to parents, then rewrites order as a preorder of the tree. */
static void put_in_order(struct process_tree_builder *k)
{
	struct node *nodes = k->nodes;
	uint32_t n = 0;

	for (uint32_t i = k->n; i-- > 0;) {
		uint32_t at = k->order[i];

		nodes[at].next = nodes[nodes[at].parent].child;
		nodes[nodes[at].parent].child = at;
	}
	for (uint32_t at = nodes[0].child; at;) {
		nodes[at].depth = nodes[at].parent ? nodes[nodes[at].parent].depth + 1 : 0;
		k->order[n++] = at;
		if (nodes[at].child) {
			at = nodes[at].child;
			continue;
		}
		while (at && !nodes[at].next)
			at = nodes[at].parent;
		at = nodes[at].next;
	}
}

static void find_quiet(struct process_tree_builder *k)
{
	struct node *nodes = k->nodes;

	for (uint32_t i = 0; i < k->n; i++)
		nodes[k->order[i]].quiet = i && process_recorded_nothing(k->m, k->order[i]);
	for (uint32_t i = k->n; i-- > 0;) {
		struct node *node = &nodes[k->order[i]];

		nodes[node->parent].quiet &= node->quiet;
	}
	for (uint32_t i = 0; i < k->n; i++) {
		struct node *node = &nodes[k->order[i]];

		node->owner = node->parent && nodes[node->parent].quiet ? nodes[node->parent].owner : node->parent;
		nodes[node->owner].folded += node->quiet;
	}
}

static void put_lines(struct process_tree_builder *k, struct process_tree *t)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		struct node *node = &k->nodes[k->order[i]], *owner = &k->nodes[node->owner];
		bool folded = node->quiet && owner->folded > 1;

		if (!folded || !owner->line) {
			uint32_t n = folded ? owner->folded : 1;

			t->lines[t->n_lines++] = (struct tree_line){ node->depth, 0, used };
			used += n;
			owner->line = folded ? t->n_lines : owner->line;
		}
		struct tree_line *line = &t->lines[folded ? owner->line - 1 : t->n_lines - 1];

		t->members[line->first + line->n++] = k->order[i];
	}
}

int process_tree_make(struct process_tree *t, struct model *m, bool fold)
{
	uint32_t n;
	struct process_tree_builder k = { .m = m, .all = model_processes(m, &n) };

	k.nodes = calloc(n + 1, sizeof *k.nodes);
	k.order = calloc(n + 1, sizeof *k.order);
	*t = (struct process_tree){ .lines = calloc(n + 1, sizeof *t->lines), .members = calloc(n + 1, sizeof *t->members) };
	if (k.nodes && k.order && t->lines && t->members) {
		find_processes(&k, n);
		cut_cycles(&k);
		put_in_order(&k);
		if (fold)
			find_quiet(&k);
		put_lines(&k, t);
	}
	free(k.nodes);
	free(k.order);
	return k.nodes && k.order && t->lines && t->members ? 0 : -1;
}

void process_tree_release(struct process_tree *t)
{
	free(t->lines);
	free(t->members);
}
