/* Collects the GPU rows of a process that run or are launched in a span of time, with the calls that launched them. */
#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"

static const struct gpu_kind {
	unsigned kind, start, duration, corr, context, stream, node;
} kinds[] = {
#define KIND(rec, node) { ROW_##rec, COL_##rec##_start, COL_##rec##_duration, COL_##rec##_corr, COL_##rec##_context, COL_##rec##_stream, node }
	KIND(kernel, COL_kernel_graph_node), KIND(memcpy, COL_memcpy_graph_node), KIND(memset, COL_memset_graph_node),
	KIND(graph, UINT32_MAX),
#undef KIND
};

struct gpu_row_columns {
	const int64_t *start, *duration;
	const uint32_t *corr, *context, *stream, *process;
	const uint64_t *node;
};

static bool columns_read(struct model *m, const struct gpu_kind *k, struct gpu_row_columns *c)
{
	c->node = k->node == UINT32_MAX ? NULL : model_column(m, k->kind, k->node);
	return (c->start = model_column(m, k->kind, k->start)) && (c->duration = model_column(m, k->kind, k->duration)) &&
	       (c->corr = model_column(m, k->kind, k->corr)) && (c->context = model_column(m, k->kind, k->context)) &&
	       (c->stream = model_column(m, k->kind, k->stream)) && (c->process = model_row_process(m, k->kind)) &&
	       (c->node || k->node == UINT32_MAX);
}

static void put_row(struct path_rows *p, const struct gpu_kind *k, const struct gpu_row_columns *c, size_t i)
{
	size_t call = model_api_of(p->m, p->process, c->corr[i]);
	const struct path_gpu_row of = { k->kind, (uint32_t)i };
	struct path_row row = {
		.start = c->start[i], .end = time_add(c->start[i], c->duration[i]), .launched = PATH_NEVER, .returned = PATH_NEVER,
		.batch = c->node && c->node[i] ? c->corr[i] : 0,
		.what = (uint32_t)PATH_COUNT(p->gpu, struct path_gpu_row),
	};

	if (call != NO_ROW)
		row.launched = MODEL_I64(p->m, api, start)[call];
	/* Keep rows that are launched in the span and run later: they may fill a queue. */
	if (row.start >= p->in.end && (call == NO_ROW || row.launched >= p->in.end))
		return;
	row.queue = path_queue_of(p, c->context[i], c->stream[i]);
	if (call != NO_ROW) {
		row.returned = time_add(row.launched, MODEL_I64(p->m, api, duration)[call]);
		row.thread = path_thread_of(p, p->process, MODEL_U32(p->m, api, thread)[call]);
	} else {
		p->unlaunched++;
	}
	buf_put(&p->rows, &row, sizeof row);
	buf_put(&p->gpu, &of, sizeof of);
}

int path_add_gpu(struct path_rows *p)
{
	if (!MODEL_I64(p->m, api, start) || !MODEL_I64(p->m, api, duration) || !MODEL_U32(p->m, api, thread))
		return -1;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct gpu_row_columns c;

		if (!columns_read(p->m, &kinds[k], &c))
			return -1;
		for (size_t i = 0, n = model_rows(p->m, kinds[k].kind); i < n; i++)
			if (c.process[i] == p->process && c.start[i] && c.duration[i] >= 0 &&
			    time_add(c.start[i], c.duration[i]) > p->in.start)
				put_row(p, &kinds[k], &c, i);
	}
	return p->oom || p->rows.oom || p->gpu.oom ? -1 : 0;
}
