#include "cli/model/gpu/graph.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"

#define DEEPEST 64u /* limit of clones of clones (child graphs in child graphs); more is a cycle in a damaged trace */

struct graph_nodes {
	struct map *rows;               /* by process: node id -> row */
	const uint64_t *original;
	uint32_t n_processes;
};

static void graph_nodes_free(struct graph_nodes *g)
{
	for (uint32_t p = 0; g && g->rows && p < g->n_processes; p++)
		map_release(&g->rows[p]);
	if (g)
		free(g->rows);
	free(g);
}

static void graphs_release(struct model *m, bool rows_only)
{
	(void)rows_only;        /* nodes are rows */
	graph_nodes_free(m->graph_nodes);
	m->graph_nodes = NULL;
}

int model_graph_nodes(struct model *m)
{
	const uint64_t *node = MODEL_U64(m, graph_node, node), *original = MODEL_U64(m, graph_node, original);
	const uint32_t *process = model_row_process(m, ROW_graph_node);
	struct graph_nodes *g;

	if (m->graph_nodes)
		return 0;
	g = calloc(1, sizeof *g);
	if (!g)
		return -1;
	g->n_processes = m->n_processes;
	g->original = original;
	g->rows = calloc(m->n_processes, sizeof *g->rows);
	if (!g->rows || !node || !original || !process)
		goto fail;
	for (size_t i = 0, n = model_rows(m, ROW_graph_node); i < n; i++)
		if (!map_set(&g->rows[process[i]], node[i], (uint32_t)i))
			goto fail;
	m->graph_nodes = g;
	m->release[FROM_GRAPHS] = graphs_release;
	return 0;
fail:
	graph_nodes_free(g);
	return -1;
}

size_t model_graph_node(struct model *m, uint32_t process, uint64_t node)
{
	const struct graph_nodes *g;
	uint32_t row;

	if (!node || model_graph_nodes(m) < 0)
		return NO_ROW;
	g = m->graph_nodes;
	for (unsigned depth = 0; depth < DEEPEST; depth++) {
		row = map_get(&g->rows[process], node);
		if (row == MAP_NONE)
			return NO_ROW;
		if (!g->original[row])
			return row;
		node = g->original[row];
	}
	return NO_ROW;
}
