#include "cli/report/parts/whole_graphs.h"

#include "cli/model/model.h"
#include "cli/report/parts/stats.h"
#include "cli/ui/table.h"

static int add_batch(const struct batch *b, void *state)
{
	const int64_t *duration = b->column[0];
	unsigned __int128 *sum = state;

	for (size_t i = 0; i < b->n; i++)
		*sum += duration[i] > 0 ? (uint64_t)duration[i] : 0;
	return 0;
}

static int sum(struct model *m, unsigned kind, unsigned field, unsigned __int128 *total)
{
	unsigned __int128 part[MODEL_WORKERS] = { 0 };
	void *const states[MODEL_WORKERS] = { &part[0], &part[1] };

	if (model_scan(m, kind, &field, 1, add_batch, states) < 0)
		return -1;
	*total += part[0] + part[1];
	return 0;
}

int whole_graphs_text(struct model *m, char *text, size_t size)
{
	unsigned __int128 graphs = 0, all = 0;
	size_t n = model_rows(m, ROW_graph);
	int64_t tenths;

	*text = '\0';
	if (!n)
		return 0;
	if (sum(m, ROW_graph, COL_graph_duration, &graphs) < 0 || sum(m, ROW_kernel, COL_kernel_duration, &all) < 0 ||
	    sum(m, ROW_memcpy, COL_memcpy_duration, &all) < 0 || sum(m, ROW_memset, COL_memset_duration, &all) < 0)
		return -1;
	tenths = share(graphs, all + graphs);
	snprintf(text, size,
		 "%zu graph %s one row each, %d.%d %% of GPU time; what ran inside them was not recorded "
		 "(--cuda-graph-trace=node records it)",
		 n, n == 1 ? "launch is" : "launches are", (int)(tenths / 10), (int)(tenths % 10));
	return 0;
}

int whole_graphs_note(struct model *m, struct table *t)
{
	char text[256];

	if (whole_graphs_text(m, text, sizeof text) < 0)
		return -1;
	if (*text)
		table_note(t, "%s", text);
	return 0;
}
