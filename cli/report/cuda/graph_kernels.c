/* cuda_graph_kern_sum: GPU time of kernels replayed by CUDA graphs, by the NVTX range in which each was captured. */
#include "cli/model/gpu/graph.h"
#include "cli/model/join.h"
#include "cli/model/names.h"
#include "cli/report/parts/sums.h"
#include "cli/report/parts/whole_graphs.h"
#include "cli/report/parts/why.h"

#include <stdlib.h>

/* A path of ranges has at most the MAX_DEPTH innermost ranges and LONGEST bytes of names; the innermost name is always whole.  "..." stands
 * for the outer ranges left out. */
#define MAX_DEPTH 128u
#define LONGEST   4096u
#define CONDITIONAL 13u         /* CU_GRAPH_NODE_TYPE_CONDITIONAL */
#define NOT_KNOWN 0xffffffffu   /* label of a node whose definition is not in the trace */

static const struct heading columns[] = {
	{ "gpu_pct", COLUMN_KEY }, { "gpu_ns", 0 }, { "count", 0 }, { "mean_ns", 0 }, { "median_ns", COLUMN_RARE }, { "min_ns", COLUMN_RARE },
	{ "max_ns", COLUMN_RARE }, { "stddev_ns", COLUMN_RARE }, { "captured_in", COLUMN_TEXT | COLUMN_KEY }, { "name", COLUMN_TEXT },
};

/* By row of graph_node: string id of the path of ranges at its capture.  Only read during the pass, which has two threads. */
static const uint32_t *labels;

/* Input of label(). */
struct labelling {
	struct model *m;
	const uint32_t *name, *domain;  /* of ranges */
	uint32_t *parents;
};

/* Prints the path of a range, outermost first: "step/layer 3/attention". */
static void put_path(FILE *out, const struct labelling *l, uint32_t process, uint32_t row)
{
	uint32_t path[MAX_DEPTH], n = 0, domain;
	size_t length = 0;

	for (; row != UINT32_MAX && n < MAX_DEPTH; row = l->parents[row]) {
		length += strlen(model_string(l->m, l->name[row]));
		if (n && length > LONGEST)
			break;
		path[n++] = row;
	}
	if (row != UINT32_MAX)
		fprintf(out, ".../");
	while (n--) {
		domain = model_domain(l->m, process, l->domain[path[n]]);
		if (domain != STRING_NONE)
			fprintf(out, "%s:", model_string(l->m, domain));
		fprintf(out, "%s%s", model_string(l->m, l->name[path[n]]), n ? "/" : "");
	}
}

static uint32_t label(const struct labelling *l, uint32_t process, uint64_t range)
{
	size_t row = model_range_of(l->m, process, range), n = 0;
	uint32_t id = NOT_KNOWN;
	char *text = NULL;
	FILE *out;

	if (!range)
		return STRING_NONE;
	out = row == NO_ROW ? NULL : open_memstream(&text, &n);
	if (!out)
		return NOT_KNOWN;
	put_path(out, l, process, (uint32_t)row);
	if (fclose(out) == 0)
		id = model_intern(l->m, text);
	free(text);
	return id;
}

static uint32_t *label_all(struct model *m)
{
	const uint64_t *range = MODEL_U64(m, graph_node, range);
	const uint32_t *process = model_row_process(m, ROW_graph_node);
	struct labelling l = { .m = m, .name = MODEL_U32(m, range, name), .domain = MODEL_U32(m, range, domain) };
	size_t n = model_rows(m, ROW_graph_node);
	uint32_t *list = malloc((n + 1) * sizeof *list);

	l.parents = model_range_parents(m);
	if (!range || !process || !l.name || !l.domain || !l.parents || !list || model_graph_nodes(m) < 0 ||
	    model_join(m) < 0) {
		free(list);
		list = NULL;
	}
	for (size_t i = 0; list && i < n; i++)
		/* Nodes of one range are adjacent: reuse the label of the node before. */
		list[i] = i && process[i] == process[i - 1] && range[i] == range[i - 1]
				  ? list[i - 1]
				  : label(&l, process[i], range[i]);
	free(l.parents);
	return list;
}

static bool by_range_and_name(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	uint64_t node = ((const uint64_t *)b->column[3])[row];
	size_t made = model_graph_node(s->m, b->process, node);

	if (!node)
		return false;
	*key = (uint64_t)(made == NO_ROW ? NOT_KNOWN : labels[made]) << 32 | ((const uint32_t *)b->column[2])[row];
	return true;
}

static uint64_t as_printed(void *m, uint64_t key)
{
	return (key & ~0xffffffffull) | model_name(m, (uint32_t)key, NAME_DEMANGLED);
}

static int print(struct sums *s, struct table *t)
{
	unsigned __int128 all = 0;
	uint64_t unknown = 0;

	groups_sort(&s->groups);
	for (size_t i = 0; i < s->groups.n; i++)
		all += s->groups.list[i].sum;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct series *g = &s->groups.list[i];
		uint32_t range = (uint32_t)(g->key >> 32);
		struct cell where = range == NOT_KNOWN ? UNKNOWN : TEXT(model_string(s->m, range));
		struct cell name = TEXT(model_string(s->m, (uint32_t)g->key));
		int64_t median = g->n ? series_median2(g) : 0;

		if (median < 0)
			return -1;
		unknown += range == NOT_KNOWN ? g->rows : 0;
		if (g->n)
			table_row(t, (const struct cell[]){ FIXED(share(g->sum, all), 1), NUMBER(g->sum),
							    NUMBER(g->rows), FIXED(series_mean(g, 10, 1), 1),
							    FIXED(median > INT64_MAX / 5 ? INT64_MAX : median * 5, 1),
							    NUMBER(g->min), NUMBER(g->max),
							    FIXED(series_deviation(g, 10, 1), 1), where, name });
		else
			table_row(t, (const struct cell[]){ UNKNOWN, UNKNOWN, NUMBER(g->rows), UNKNOWN, UNKNOWN,
							    UNKNOWN, UNKNOWN, UNKNOWN, where, name });
	}
	if (unknown)
		table_note(t,
			   "kernels with an unknown capture: %llu; their graph was made before recording, or the range of the "
			   "capture is not in the trace",
			   (unsigned long long)unknown);
	if (s->untimed)
		table_note(t,
			   "rows without a time, because CUPTI gave none: %llu; they count as rows, but in no time",
			   (unsigned long long)s->untimed);
	return 0;
}

/* Conditional nodes: the GPU decides at run time what runs inside them. */
static int note_conditional(struct model *m, struct table *t)
{
	const uint32_t *type = MODEL_U32(m, graph_node, type);
	const uint64_t *original = MODEL_U64(m, graph_node, original);
	size_t n = 0;

	if (!type || !original)
		return -1;
	for (size_t i = 0; i < model_rows(m, ROW_graph_node); i++)
		n += type[i] == CONDITIONAL && !original[i];
	if (n)
		table_note(t, "conditional nodes: %zu; CUPTI may not report the kernels inside them", n);
	return 0;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	static const unsigned fields[] = {
		COL_kernel_duration, COL_kernel_start | MODEL_IF_ZERO, COL_kernel_name, COL_kernel_graph_node,
	};
	struct sums s = { .m = m };
	uint32_t *list = label_all(m);
	int rc = -1;

	(void)variant;
	labels = list;
	if (list)
		rc = sums_pass(&s, ROW_kernel, fields, 4, by_range_and_name);
	if (rc == 0)
		rc = groups_rekey(&s.groups, as_printed, m);
	if (rc == 0)
		rc = print(&s, t);
	if (rc == 0)
		rc = whole_graphs_note(m, t);
	if (rc == 0)
		rc = note_conditional(m, t);
	if (rc == 0 && !s.groups.n && !model_rows(m, ROW_graph)) {
		if (model_rows(m, ROW_kernel))
			table_note(t, "no kernel of this trace came from a CUDA graph");
		else
			why_no_gpu(m, t, "kernels");
	}
	if (rc == 0 && s.groups.n)
		why_gaps(m, t);
	sums_release(&s);
	free(list);
	return rc;
}

const struct report report_cuda_graph_kern_sum = {
	.name = "cuda_graph_kern_sum",
	.share = "gpu_pct: share of the GPU time of all rows",
	.title = "CUDA Graph Kernel Summary",
	.help = "Which kernels in CUDA graphs take the GPU time, by NVTX range at capture?",
	.needs = NEED_GRAPHS,
	.adds = { ROW_kernel },
	COLUMNS(columns),
	.run = run,
};
