#include "cli/model/gpu/gpu_lanes.h"

#include "cli/model/gpu/kernel_class.h"
#include "cli/model/inside.h"
#include "cli/model/steps/steps.h"

static const struct {
	unsigned kind;
	enum gpu_work work;
	unsigned start, duration, device;
} gpu_kinds[] = {
	{ ROW_kernel, GPU_COMPUTE, COL_kernel_start, COL_kernel_duration, COL_kernel_device },
	{ ROW_memcpy, GPU_COPIES, COL_memcpy_start, COL_memcpy_duration, COL_memcpy_device },
	{ ROW_memset, GPU_SETS, COL_memset_start, COL_memset_duration, COL_memset_device },
	{ ROW_graph, GPU_GRAPHS, COL_graph_start, COL_graph_duration, COL_graph_device },
};
#define GPU_KINDS (sizeof gpu_kinds / sizeof *gpu_kinds)

/* ---- names of communication kernels ---- */

struct kernel_names {
	struct map met;                 /* string ids of kernel names that this worker met */
	bool oom;
};

static int meet_names(const struct batch *b, void *state)
{
	const uint32_t *name = b->column[0];
	struct kernel_names *names = state;
	bool new;

	for (size_t i = 0; i < b->n && !names->oom; i++)
		if (!i || name[i] != name[i - 1])
			names->oom = !map_put(&names->met, name[i], 0, &new);
	return names->oom ? -1 : 0;
}

/* Collects the names of communication kernels in *comm before the pass, because names cannot be classified during a pass. */
static int find_comm(struct model *m, struct map *comm)
{
	static const unsigned fields[] = { COL_kernel_name };
	struct kernel_names names[MODEL_WORKERS] = { 0 };
	void *const states[MODEL_WORKERS] = { &names[0], &names[1] };
	int rc = model_scan_all(m, ROW_kernel, fields, 1, meet_names, states);

	for (size_t w = 0; w < MODEL_WORKERS; w++) {
		for (size_t i = 0; names[w].met.entries && i <= names[w].met.mask && rc == 0; i++) {
			const struct map_entry *e = &names[w].met.entries[i];

			if (e->value && model_kernel_communicates(m, (uint32_t)e->key) && !map_set(comm, e->key, 1))
				rc = -1;
		}
		map_release(&names[w].met);
	}
	return rc;
}

/* ---- the pass ---- */

struct lane_worker {
	struct map slots;               /* process << 32 | device -> position in list */
	struct buf list;                /* struct gpu_lane */
	const struct map *comm;         /* names of communication kernels; NULL: not needed */
};

static struct gpu_lane *lane_of(struct lane_worker *w, uint32_t process, uint32_t device)
{
	const struct gpu_lane none = { .process = process, .device = device };
	bool new;
	uint32_t *place = map_put(&w->slots, (uint64_t)process << 32 | device, (uint32_t)w->slots.n, &new);

	if (place && new)
		buf_put(&w->list, &none, sizeof none);
	return place && !w->list.oom ? (struct gpu_lane *)w->list.data + (*place - 1) : NULL;
}

static void lane_add(struct gpu_lane *l, int64_t start, int64_t duration, bool comm)
{
	int64_t end = time_add(start, duration);

	l->rows++;
	if (!start || duration < 0) {
		l->untimed++;
		return;
	}
	if (!l->first || start < l->first)
		l->first = start;
	if (end > l->last)
		l->last = end;
	spans_add(&l->reading[comm], start, end);
}

static int meet_rows(const struct batch *b, void *state)
{
	const int64_t *start = b->column[0], *duration = b->column[1];
	const uint32_t *device = b->column[2], *name = b->column[3];
	struct lane_worker *w = state;
	struct gpu_lane *lane = NULL;
	bool comm = false;

	for (size_t i = 0; i < b->n; i++) {
		if (!lane || lane->device != device[i])
			lane = lane_of(w, b->process, device[i]);
		if (!lane)
			return -1;
		if (name && (!i || name[i] != name[i - 1]))
			comm = map_get(w->comm, name[i]) != MAP_NONE;
		lane_add(lane, start[i], duration[i], comm);
		if (lane->reading[comm].oom)
			return -1;
	}
	return 0;
}

/* Merges the spans of a kind after it was read.  Rows of one kind are nearly sorted; rows of all kinds together would need a sort. */
static int end_kind(struct lane_worker *w, enum gpu_work work)
{
	struct gpu_lane *l = (struct gpu_lane *)w->list.data;

	for (size_t i = 0; i < w->list.len / sizeof *l; i++)
		for (size_t comm = 0; comm < 2; comm++)
			if (spans_union(&l[i].reading[comm]) < 0 ||
			    spans_merge(&l[i].work[comm ? GPU_COMM : work], &l[i].reading[comm]) < 0)
				return -1;
	return 0;
}

static int read_kinds(struct model *m, const struct map *comm, struct lane_worker workers[MODEL_WORKERS])
{
	void *const states[MODEL_WORKERS] = { &workers[0], &workers[1] };
	int rc = 0;

	for (size_t k = 0; k < GPU_KINDS && rc == 0; k++) {
		const unsigned fields[] = { gpu_kinds[k].start, gpu_kinds[k].duration, gpu_kinds[k].device, COL_kernel_name };
		bool names = comm && gpu_kinds[k].kind == ROW_kernel;

		rc = model_scan_all(m, gpu_kinds[k].kind, fields, names ? 4 : 3, meet_rows, states);
		for (size_t w = 0; w < MODEL_WORKERS && rc == 0; w++)
			rc = end_kind(&workers[w], comm ? gpu_kinds[k].work : GPU_COMPUTE);
	}
	return rc;
}

int gpu_lanes_read(struct model *m, bool by_work, struct gpu_lanes *lanes)
{
	struct map comm = { 0 };
	struct lane_worker workers[MODEL_WORKERS] = { { .comm = &comm }, { .comm = &comm } };
	int rc = by_work ? find_comm(m, &comm) : 0;

	*lanes = (struct gpu_lanes){ 0 };
	if (rc == 0)
		rc = read_kinds(m, by_work ? &comm : NULL, workers);
	for (size_t w = 1; w < MODEL_WORKERS; w++)
		buf_put(&workers[0].list, workers[w].list.data, workers[w].list.len);
	rc = workers[0].list.oom ? -1 : rc;
	lanes->list = (struct gpu_lane *)workers[0].list.data;
	lanes->n = workers[0].list.len / sizeof *lanes->list;
	for (size_t w = 0; w < MODEL_WORKERS; w++) {
		map_release(&workers[w].slots);
		if (w)
			buf_free(&workers[w].list);
	}
	map_release(&comm);
	return rc;
}

void gpu_lanes_release(struct gpu_lanes *lanes)
{
	for (size_t i = 0; i < lanes->n; i++) {
		for (size_t k = 0; k < GPU_WORKS; k++)
			spans_release(&lanes->list[i].work[k]);
		spans_release(&lanes->list[i].reading[0]);
		spans_release(&lanes->list[i].reading[1]);
	}
	free(lanes->list);
	*lanes = (struct gpu_lanes){ 0 };
}

/* ---- windows ---- */

struct edges {
	struct map at;                  /* window << 32 | device -> position in list */
	struct buf list;                /* struct window_edge */
};

static int edge_add(struct edges *e, uint32_t window, uint32_t device, int64_t start, int64_t end)
{
	const struct window_edge none = { .window = window, .device = device, .first = start, .last = end };
	bool new;
	uint32_t *place = map_put(&e->at, (uint64_t)window << 32 | device, (uint32_t)e->at.n, &new);
	struct window_edge *edge;

	if (place && new)
		buf_put(&e->list, &none, sizeof none);
	if (!place || e->list.oom)
		return -1;
	edge = (struct window_edge *)e->list.data + (*place - 1);
	edge->first = start < edge->first ? start : edge->first;
	edge->last = end > edge->last ? end : edge->last;
	return 0;
}

static int edges_of_kind(struct model *m, size_t k, struct edges *e)
{
	unsigned kind = gpu_kinds[k].kind;
	const int64_t *start = model_column(m, kind, gpu_kinds[k].start), *duration = model_column(m, kind, gpu_kinds[k].duration);
	const uint32_t *device = model_column(m, kind, gpu_kinds[k].device);
	int32_t *window = model_row_windows(m, kind);
	int rc = start && duration && device && window ? 0 : -1;

	for (size_t i = 0, n = model_rows(m, kind); i < n && rc == 0; i++)
		if (window[i] >= 0 && start[i] && duration[i] >= 0)
			rc = edge_add(e, (uint32_t)window[i], device[i], start[i], time_add(start[i], duration[i]));
	free(window);
	return rc;
}

int window_edges_read(struct model *m, struct window_edges *edges)
{
	struct edges e = { .list = { 0 } };
	int rc = 0;

	for (size_t k = 0; k < GPU_KINDS && rc == 0 && model_rows(m, ROW_window); k++)
		rc = edges_of_kind(m, k, &e);
	map_release(&e.at);
	edges->list = (struct window_edge *)e.list.data;
	edges->n = e.list.len / sizeof *edges->list;
	return rc;
}
