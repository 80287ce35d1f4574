#include "cli/compat/hta/hta_graph.h"

#include <stdlib.h>

#include "trace/grow.h"

const char *const hta_edge_words[EDGE_TYPES] = {
	"critical_path_operator", "critical_path_dependency", "critical_path_kernel_launch_delay",
	"critical_path_kernel_kernel_delay", "critical_path_sync_dependency",
};

static void meet(struct hta_graph *g, uint32_t node)
{
	if (!g->nodes[node].there)
		g->order[g->n_order++] = node;
	g->nodes[node].there = true;
}

static void link_edge(struct hta_graph *g, uint32_t at)
{
	struct hta_dependency *e = &g->edges[at];
	struct hta_node *from = &g->nodes[e->from], *to = &g->nodes[e->to];

	if (from->first_out == NO_NODE)
		from->first_out = at;
	else
		g->edges[from->last_out].next_out = at;
	from->last_out = at;
	if (to->first_in == NO_NODE)
		to->first_in = at;
	else
		g->edges[to->last_in].next_in = at;
	to->last_in = at;
}

uint32_t hta_depend(struct hta_graph *g, uint32_t from, uint32_t to, enum hta_edge_type type, bool free_of_charge)
{
	bool none = type == EDGE_DEPENDENCY || type == EDGE_SYNC || free_of_charge, new = false;
	uint32_t *place, at;

	meet(g, from);
	meet(g, to);
	if (!GROW(g->edges, g->n_edges + 1, g->cap_edges)) {
		g->oom = true;
		return NO_NODE;
	}
	place = map_put(&g->places, (uint64_t)from << 32 | to, (uint32_t)g->n_edges, &new);
	if (!place) {
		g->oom = true;
		return NO_NODE;
	}
	at = *place - 1;
	if (new) {
		g->edges[g->n_edges++] = (struct hta_dependency){ from, to, NO_NODE, NO_NODE, type, NO_NODE, 0 };
		link_edge(g, at);
	}
	g->edges[at].type = type;
	g->edges[at].weight = none ? 0 : time_sub(g->nodes[to].ts, g->nodes[from].ts);
	return at;
}

void hta_attribute(struct hta_graph *g, uint32_t edge, uint32_t around)
{
	struct hta_dependency *e;

	if (edge == NO_NODE)
		return;
	e = &g->edges[edge];
	if (e->type != EDGE_OPERATOR && e->type != EDGE_KERNEL_DELAY)
		return;
	if (e->type == EDGE_KERNEL_DELAY || g->nodes[e->from].start)
		e->of = g->nodes[e->from].row;
	else
		e->of = g->nodes[e->to].start ? around : g->nodes[e->to].row;
}

/* Rounding can make a weight -1 us or less; it then counts as 0. */
static int64_t weight_of(const struct hta_dependency *e)
{
	return e->weight <= -1000 ? 0 : e->weight;
}

/* Topological order of the nodes, into sorted.  open: zeros, room for n_nodes.  Returns the number of nodes sorted. */
static size_t sort_nodes(struct hta_graph *g, uint32_t *sorted, uint32_t *open)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_edges; i++)
		open[g->edges[i].to]++;
	for (size_t i = 0; i < g->n_order; i++)
		if (!open[g->order[i]])
			sorted[n++] = g->order[i];
	for (size_t i = 0; i < n; i++)
		for (uint32_t e = g->nodes[sorted[i]].first_out; e != NO_NODE; e = g->edges[e].next_out)
			if (--open[g->edges[e].to] == 0)
				sorted[n++] = g->edges[e].to;
	return n;
}

/* As networkx's dag_longest_path: of paths of equal length the first found, of last nodes of equal distance the first. */
int hta_longest_path(struct hta_graph *g)
{
	uint32_t *sorted = malloc((g->n_nodes + 1) * sizeof *sorted), *open = calloc(g->n_nodes + 1, sizeof *open);
	uint32_t *best = malloc((g->n_nodes + 1) * sizeof *best), last = NO_NODE;
	int64_t *far = malloc((g->n_nodes + 1) * sizeof *far);
	size_t n;

	g->path = malloc((g->n_nodes + 1) * sizeof *g->path);
	if (!sorted || !open || !best || !far || !g->path) {
		free(sorted);
		free(open);
		free(best);
		free(far);
		return -1;
	}
	n = sort_nodes(g, sorted, open);
	for (size_t i = 0; i < n; i++) {
		uint32_t v = sorted[i];
		int64_t most = INT64_MIN;

		best[v] = NO_NODE;
		for (uint32_t e = g->nodes[v].first_in; e != NO_NODE; e = g->edges[e].next_in) {
			int64_t way = time_add(far[g->edges[e].from], weight_of(&g->edges[e]));

			if (way > most) {
				most = way;
				best[v] = e;
			}
		}
		if (most < 0)
			best[v] = NO_NODE;
		far[v] = most < 0 ? 0 : most;
		if (last == NO_NODE || far[v] > far[last])
			last = v;
	}
	for (uint32_t v = last; v != NO_NODE && best[v] != NO_NODE; v = g->edges[best[v]].from)
		g->path[g->n_path++] = best[v];
	for (size_t i = 0; i < g->n_path / 2; i++) {
		uint32_t other = g->path[g->n_path - 1 - i];

		g->path[g->n_path - 1 - i] = g->path[i];
		g->path[i] = other;
	}
	for (size_t i = 0; i < g->n_path; i++)
		g->length = time_add(g->length, g->edges[g->path[i]].weight);
	free(sorted);
	free(open);
	free(best);
	free(far);
	return 0;
}

void hta_graph_release(struct hta_graph *g)
{
	free(g->nodes);
	free(g->edges);
	free(g->order);
	free(g->start_of);
	free(g->end_of);
	free(g->path);
	map_release(&g->places);
}
