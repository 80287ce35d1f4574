#include "cli/model/gpu/gpu.h"

#include "cli/model/gpu/gpu_lanes.h"
#include "cli/model/inside.h"
#include "cli/model/steps/steps.h"

static const unsigned gpu_kinds[] = { ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph };
#define GPU_KINDS (sizeof gpu_kinds / sizeof *gpu_kinds)

struct melt {
	struct gpu gpu;
	struct spans busy;
	struct spans more;              /* unsorted: spans of short lists, which are not merged into busy one by one */
	struct spans span;
	struct spans steps;             /* selected steps of its processes, if steps are selected */
	int64_t whole_first, whole_last;        /* first and last time of rows of processes without windows; 0, 0: none */
};

/* Merges lanes into devices. */
struct melting {
	struct model *m;
	struct buf list;                /* struct melt */
	struct map by_place, by_uuid;   /* process << 32 | device -> position in list; hash of the UUID -> position in list */
	struct map counted;             /* position in list << 32 | process: counted as a user of the device */
};

static uint64_t uuid_of(struct model *m, uint32_t process, uint32_t device)
{
	const struct device_row *d = model_device(m, process, device);

	return d ? d->uuid_high * 0x9e3779b97f4a7c15ull ^ d->uuid_low : 0;
}

static void add_user(struct gpu *g, const struct process *all, uint32_t process)
{
	for (uint32_t i = 0; i < g->processes && i < GPU_USERS; i++)
		if (all[g->users[i]].number == all[process].number)
			return;         /* another image of a counted process, after an exec */
	if (g->processes < GPU_USERS)
		g->users[g->processes] = process;
	g->processes++;
}

/* The entry of a process's device; devices with equal UUIDs share it.  NULL: out of memory. */
static struct melt *melt_of(struct melting *all, uint32_t process, uint32_t device)
{
	const struct melt none = { .gpu = { .process = process, .device = device } };
	uint64_t place = (uint64_t)process << 32 | device, uuid = uuid_of(all->m, process, device);
	uint32_t i = map_get(&all->by_place, place);
	bool new;

	if (i == MAP_NONE && uuid)
		i = map_get(&all->by_uuid, uuid);
	if (i == MAP_NONE) {
		i = (uint32_t)(all->list.len / sizeof none);
		buf_put(&all->list, &none, sizeof none);
		if (all->list.oom || (uuid && !map_put(&all->by_uuid, uuid, i, &new)))
			return NULL;
	}
	if (!map_put(&all->by_place, place, i, &new) || !map_put(&all->counted, (uint64_t)i << 32 | process, 0, &new))
		return NULL;
	if (new && all->m->chosen.steps && model_selected_steps(all->m, process, &((struct melt *)all->list.data)[i].steps) < 0)
		return NULL;
	if (new)
		add_user(&((struct melt *)all->list.data)[i].gpu, all->m->processes, process);
	return (struct melt *)all->list.data + i;
}

static void widen(int64_t *first, int64_t *last, const struct gpu_lane *l)
{
	if (l->first && (!*first || l->first < *first))
		*first = l->first;
	if (l->last > *last)
		*last = l->last;
}

static int add_busy(struct melt *g, struct spans *work)
{
	if (work->n >= g->busy.n / 4)
		return spans_merge(&g->busy, work);
	for (size_t k = 0; k < work->n; k++)
		spans_add(&g->more, work->list[k].time, work->list[k].end);
	return g->more.oom ? -1 : 0;
}

static int melt(struct melting *all, struct gpu_lane *l)
{
	struct melt *g = melt_of(all, l->process, l->device);

	if (!g)
		return -1;
	g->gpu.rows += l->rows;
	g->gpu.untimed += l->untimed;
	widen(&g->gpu.first, &g->gpu.last, l);
	if (model_counts_whole(all->m, l->process))
		widen(&g->whole_first, &g->whole_last, l);
	for (size_t k = 0; k < GPU_WORKS; k++)
		if (add_busy(g, &l->work[k]) < 0)
			return -1;
	return 0;
}

/* Adds windows to the GPU spans: each from its first to its last row on the device. */
static int add_windows(struct melting *all)
{
	struct window_edges edges = { 0 };
	size_t n;
	const struct window *windows = model_windows(all->m, &n);
	int rc = windows ? window_edges_read(all->m, &edges) : -1;

	for (size_t i = 0; i < edges.n && rc == 0; i++) {
		const struct window_edge *e = &edges.list[i];
		struct melt *g = melt_of(all, windows[e->window].process, e->device);

		if (g) {
			spans_add(&g->span, e->first, e->last);
			g->gpu.windows++;
		}
		rc = g ? 0 : -1;
	}
	free(edges.list);
	return rc;
}

static int finish_one(struct model *m, struct melt *g)
{
	struct spans *span = m->chosen.steps ? &g->steps : &g->span;

	if (!m->chosen.steps)
		spans_add(span, g->whole_first, g->whole_last);
	if (g->whole_first)
		g->gpu.windows = 0;
	if (spans_union(span) < 0 || spans_union(&g->more) < 0 || spans_merge(&g->busy, &g->more) < 0)
		return -1;
	g->gpu.span = g->gpu.first ? spans_length(span) : 0;
	g->gpu.busy = spans_common(&g->busy, span);
	return 0;
}

static int place_order(const void *a, const void *b)
{
	const struct gpu *p = a, *q = b;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	return p->device < q->device ? -1 : p->device > q->device;
}

static int finish(struct melting *all, struct gpu **gpus)
{
	struct melt *g = (struct melt *)all->list.data;
	size_t n = all->list.len / sizeof *g;
	struct gpu *out = calloc(n + 1, sizeof *out);

	for (size_t i = 0; out && i < n; i++) {
		if (finish_one(all->m, &g[i]) < 0) {
			free(out);
			return -1;
		}
		out[i] = g[i].gpu;
	}
	if (!out)
		return -1;
	qsort(out, n, sizeof *out, place_order);
	*gpus = out;
	return (int)n;
}

static void melting_release(struct melting *all)
{
	struct melt *g = (struct melt *)all->list.data;

	for (size_t i = 0; i < all->list.len / sizeof *g; i++) {
		spans_release(&g[i].busy);
		spans_release(&g[i].more);
		spans_release(&g[i].span);
		spans_release(&g[i].steps);
	}
	buf_free(&all->list);
	map_release(&all->by_place);
	map_release(&all->by_uuid);
	map_release(&all->counted);
}

int model_gpus(struct model *m, struct gpu **gpus)
{
	struct melting all = { .m = m };
	struct gpu_lanes lanes;
	int rc = gpu_lanes_read(m, false, &lanes);

	for (size_t i = 0; i < lanes.n && rc == 0; i++)
		rc = melt(&all, &lanes.list[i]);
	if (rc == 0 && !m->chosen.steps)
		rc = add_windows(&all);
	if (rc == 0)
		rc = finish(&all, gpus);
	gpu_lanes_release(&lanes);
	melting_release(&all);
	return rc;
}

struct timed *model_gpu_order(struct model *m, size_t *n)
{
	const int64_t *start[GPU_KINDS] = {
		MODEL_I64(m, kernel, start),
		MODEL_I64(m, memcpy, start),
		MODEL_I64(m, memset, start),
		MODEL_I64(m, graph, start),
	};
	struct timed *order;
	size_t at = 0;

	*n = 0;
	for (size_t k = 0; k < GPU_KINDS; k++) {
		if (!start[k])
			return NULL;
		*n += model_rows(m, gpu_kinds[k]);
	}
	order = column_memory(*n * sizeof *order);
	for (size_t k = 0; order && k < GPU_KINDS; k++)
		for (size_t row = 0; row < model_rows(m, gpu_kinds[k]); row++)
			order[at++] =
				(struct timed){ .time = start[k][row], .kind = gpu_kinds[k], .row = (uint32_t)row };
	if (order && timed_sort(order, *n) < 0) {
		free(order);
		return NULL;
	}
	return order;
}
