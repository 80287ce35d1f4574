/*
 * Edges of the critical path between calls and operators of the host: of one thread, and by CUDA's lock
 * (hta/analyzers/critical_path_analysis.py).
 */
#include "cli/compat/hta/hta_graph.h"
#include "cli/compat/hta/hta_tree.h"

#include <stdlib.h>

static uint32_t flags_of(const struct hta_graph *g, uint32_t node)
{
	return g->h->names[hta_row(g->r, g->nodes[node].row)->name].flags;
}

/* Calls of all threads that take CUDA's lock wait for each other. */
int hta_lock_edges(struct hta_graph *g)
{
	uint32_t *open = malloc((g->n_nodes + 1) * sizeof *open), last = NO_NODE;
	size_t n = 0;

	for (uint32_t i = 0; open && i < g->n_nodes; i++) {
		if (!(flags_of(g, i) & HTA_LOCKS))
			continue;
		if (g->nodes[i].start) {
			open[n++] = i;
			last = i;
			continue;
		}
		while (n > 0) {
			uint32_t start = open[--n];

			if (g->nodes[start].row == g->nodes[i].row)
				hta_attribute(g, hta_depend(g, start, i, EDGE_OPERATOR, false), NO_NODE);
			else
				hta_depend(g, start, i, EDGE_DEPENDENCY, false);
		}
		if (last != NO_NODE && !g->nodes[last].start)
			hta_depend(g, last, i, EDGE_DEPENDENCY, false);
		last = i;
	}
	free(open);
	return open && !g->oom ? 0 : -1;
}

/* Whether hta_lock_edges() makes this edge. */
static bool both_lock(const struct hta_graph *g, uint32_t from, uint32_t to)
{
	return flags_of(g, from) & HTA_LOCKS && flags_of(g, to) & HTA_LOCKS &&
	       (g->nodes[from].start || !g->nodes[to].start);
}

/* State of going through the starts and ends of a thread. */
struct climb {
	struct hta_graph *g;
	uint32_t last;                  /* the last node */
	uint32_t around;                /* row around that node; NO_NODE: none */
	size_t depth;
};

static void climb_to(struct climb *c, uint32_t node, enum hta_edge_type type, bool free_of_charge, uint32_t around)
{
	if (c->last != NO_NODE && !both_lock(c->g, c->last, node))
		hta_attribute(c->g, hta_depend(c->g, c->last, node, type, free_of_charge), c->around);
	c->last = node;
	c->around = around;
}

static int thread_edges(struct hta_graph *g, const uint32_t *rows, size_t n)
{
	struct hta_edge *edges = malloc((2 * n + 1) * sizeof *edges);
	uint32_t *stack = malloc((n + 1) * sizeof *stack);
	struct climb c = { g, NO_NODE, NO_NODE, 0 };
	size_t top = 0;
	int rc = -1;

	for (size_t i = 0; i < n && edges && stack; i++) {
		const struct hta_row *row = hta_row(g->r, rows[i]);
		int64_t dur = row->dur > 0 ? row->dur : 0;

		edges[2 * i] = (struct hta_edge){ row->ts, dur, rows[i], true };
		edges[2 * i + 1] = (struct hta_edge){ time_add(row->ts, dur), dur, rows[i], false };
	}
	if (edges && stack)
		rc = hta_sort_edges(edges, 2 * n);
	for (size_t i = 0; i < 2 * n && rc == 0; i++) {
		uint32_t row = edges[i].row, around;

		if (edges[i].opens) {
			around = top ? stack[top - 1] : NO_NODE;
			stack[top++] = row;
			if (g->start_of[row] == NO_NODE)
				continue;
			climb_to(&c, g->start_of[row], c.depth ? EDGE_OPERATOR : EDGE_DEPENDENCY, false, around);
			c.depth++;
			continue;
		}
		if (!top)       /* times were clamped at the end of the scale: the end came before the start */
			continue;
		row = stack[--top];     /* rows that overlap without nesting: the innermost open row ends */
		around = top ? stack[top - 1] : NO_NODE;
		if (g->end_of[row] == NO_NODE)
			continue;
		climb_to(&c, g->end_of[row], EDGE_OPERATOR, flags_of(g, g->start_of[row]) & HTA_BLOCKS, around);
		c.depth--;
	}
	free(edges);
	free(stack);
	return g->oom ? -1 : rc;
}

/* tid of the only thread with an operator or annotation whose name contains part; 0: none, or several. */
static int64_t thread_with(struct hta_graph *g, const uint32_t *rows, size_t n, const char *part)
{
	bool *with = hta_names_with(g->h, part), any = false;
	int64_t tid = 0;

	for (size_t i = 0; i < n && with; i++) {
		const struct hta_row *row = hta_row(g->r, rows[i]);

		if ((row->category != HTA_CPU_OP && row->category != HTA_ANNOTATION) || !with[row->name])
			continue;
		if (any && hta_place(g->r, row)->tid != tid) {
			tid = 0;
			break;
		}
		any = true;
		tid = hta_place(g->r, row)->tid;
	}
	g->oom |= !with;
	free(with);
	return tid;
}

/* Makes the edges of each thread.  The backward thread is merged into the forward thread, which waits for it. */
int hta_stack_edges(struct hta_graph *g, const uint32_t *rows, size_t n)
{
	int64_t forward = thread_with(g, rows, n, "forward"), backward = thread_with(g, rows, n, "autograd");
	struct hta_threads t;
	int rc = hta_threads(g->r, rows, n, backward, forward && backward ? forward : backward, &t) ? 0 : -1;

	for (size_t k = 0, i = 0; k < t.n && rc == 0; i = t.end[k++]) {
		bool host = true;

		for (size_t j = i; j < t.end[k] && host; j++)
			host = hta_stream(g->r, hta_row(g->r, t.rows[j])) < 0;
		if (host && i < t.end[k])
			rc = thread_edges(g, &t.rows[i], t.end[k] - i);
	}
	hta_threads_release(&t);
	return rc;
}
