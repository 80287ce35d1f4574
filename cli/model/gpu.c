#include "cli/model/gpu.h"

#include "cli/model/inside.h"
#include "cli/model/spans.h"

static const unsigned gpu_kinds[] = { ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph };
#define GPU_KINDS (sizeof gpu_kinds / sizeof *gpu_kinds)

/* What one worker has met, by process and device. */
struct seen {
	struct map slots;               /* process << 32 | device -> position in list */
	struct buf list;                /* struct busy */
};

struct busy {
	uint32_t process, device;
	uint64_t rows, untimed;
	int64_t first, last;
	struct spans spans;             /* of the kind being read */
	struct spans all;               /* of those before it, in order */
};

static struct busy *busy_of(struct seen *s, uint32_t process, uint32_t device)
{
	const struct busy none = { .process = process, .device = device };
	bool new;
	uint32_t *place = map_put(&s->slots, (uint64_t)process << 32 | device, (uint32_t)s->slots.n, &new);

	if (place && new)
		buf_put(&s->list, &none, sizeof none);
	return place && !s->list.oom ? (struct busy *)s->list.data + (*place - 1) : NULL;
}

static void busy_add(struct busy *b, int64_t start, int64_t duration)
{
	b->rows++;
	if (!start || duration < 0) {
		b->untimed++;
		return;
	}
	if (!b->first || start < b->first)
		b->first = start;
	if (time_add(start, duration) > b->last)
		b->last = time_add(start, duration);
	spans_add(&b->spans, start, time_add(start, duration));
}

static int see(const struct batch *b, void *state)
{
	const int64_t *start = b->column[0], *duration = b->column[1];
	const uint32_t *device = b->column[2];
	struct busy *busy = NULL;

	for (size_t i = 0; i < b->n; i++) {
		if (!busy || busy->device != device[i])
			busy = busy_of(state, b->process, device[i]);
		if (!busy)
			return -1;
		busy_add(busy, start[i], duration[i]);
	}
	return busy && busy->spans.oom ? -1 : 0;
}

struct melt {
	struct gpu gpu;
	struct spans spans;
	struct spans more;              /* in any order: lists too short to walk all of spans for each */
};

/* What the workers have met, put together. */
struct melting {
	struct buf list;                /* struct melt */
	struct map by_place, by_uuid;   /* process << 32 | device; the UUID, mixed -> position in list */
	struct map counted;             /* that position << 32 | process: counted as one that used it */
};

static uint64_t uuid_of(struct model *m, uint32_t process, uint32_t device)
{
	const struct device_row *d = model_device(m, process, device);

	return d ? d->uuid_high * 0x9e3779b97f4a7c15ull ^ d->uuid_low : 0;
}

/* The same GPU is the same device of one process, or has an equal UUID.  NULL: out of memory. */
static struct melt *melt_of(struct model *m, struct melting *all, const struct busy *b)
{
	const struct melt none = { .gpu = { .process = b->process, .device = b->device } };
	uint64_t place = (uint64_t)b->process << 32 | b->device, uuid = uuid_of(m, b->process, b->device);
	uint32_t i = map_get(&all->by_place, place);
	bool new;

	if (i == MAP_NONE && uuid)
		i = map_get(&all->by_uuid, uuid);
	if (i == MAP_NONE) {
		i = (uint32_t)(all->list.len / sizeof none);
		buf_put(&all->list, &none, sizeof none);
		if (all->list.oom || !map_put(&all->by_place, place, i, &new) ||
		    (uuid && !map_put(&all->by_uuid, uuid, i, &new)))
			return NULL;
	}
	if (!map_put(&all->counted, (uint64_t)i << 32 | b->process, 0, &new))
		return NULL;
	((struct melt *)all->list.data)[i].gpu.processes += new;
	return (struct melt *)all->list.data + i;
}

static int melt(struct model *m, struct melting *all, struct busy *b)
{
	struct melt *g = melt_of(m, all, b);

	if (!g)
		return -1;
	g->gpu.rows += b->rows;
	g->gpu.untimed += b->untimed;
	if (b->first && (!g->gpu.first || b->first < g->gpu.first))
		g->gpu.first = b->first;
	if (b->last > g->gpu.last)
		g->gpu.last = b->last;
	if (b->all.n >= g->spans.n / 4)
		return spans_merge(&g->spans, &b->all);
	for (size_t k = 0; k < b->all.n; k++)
		spans_add(&g->more, b->all.list[k].time, b->all.list[k].end);
	return g->more.oom ? -1 : 0;
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

	if (!out)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (spans_union(&g[i].more) < 0 || spans_merge(&g[i].spans, &g[i].more) < 0) {
			free(out);
			return -1;
		}
		g[i].gpu.busy = spans_length(&g[i].spans);
		out[i] = g[i].gpu;
	}
	qsort(out, n, sizeof *out, place_order);
	*gpus = out;
	return (int)n;
}

/* A kind has been read.  Its rows come nearly in order, each kind by itself: all together they would have to be sorted. */
static int end_kind(struct seen *s)
{
	struct busy *b = (struct busy *)s->list.data;

	for (size_t i = 0; i < s->list.len / sizeof *b; i++)
		if (spans_union(&b[i].spans) < 0 || spans_merge(&b[i].all, &b[i].spans) < 0)
			return -1;
	return 0;
}

int model_gpus(struct model *m, struct gpu **gpus)
{
	static const unsigned fields[GPU_KINDS][3] = {
		{ COL_kernel_start, COL_kernel_duration, COL_kernel_device },
		{ COL_memcpy_start, COL_memcpy_duration, COL_memcpy_device },
		{ COL_memset_start, COL_memset_duration, COL_memset_device },
		{ COL_graph_start, COL_graph_duration, COL_graph_device },
	};
	struct seen seen[MODEL_WORKERS] = { 0 };
	void *const states[MODEL_WORKERS] = { &seen[0], &seen[1] };
	struct melting all = { 0 };
	int rc = 0;

	for (size_t k = 0; k < GPU_KINDS && rc == 0; k++) {
		rc = model_scan(m, gpu_kinds[k], fields[k], 3, see, states);
		for (size_t w = 0; w < MODEL_WORKERS && rc == 0; w++)
			rc = end_kind(&seen[w]);
	}
	for (size_t w = 0; w < MODEL_WORKERS; w++)
		for (size_t i = 0; i < seen[w].list.len / sizeof(struct busy); i++) {
			struct busy *b = (struct busy *)seen[w].list.data + i;

			if (rc == 0)
				rc = melt(m, &all, b);
			spans_release(&b->spans);
			spans_release(&b->all);
		}
	if (rc == 0)
		rc = finish(&all, gpus);
	for (size_t i = 0; i < all.list.len / sizeof(struct melt); i++) {
		spans_release(&((struct melt *)all.list.data)[i].spans);
		spans_release(&((struct melt *)all.list.data)[i].more);
	}
	buf_free(&all.list);
	map_release(&all.by_place);
	map_release(&all.by_uuid);
	map_release(&all.counted);
	for (size_t w = 0; w < MODEL_WORKERS; w++) {
		buf_free(&seen[w].list);
		map_release(&seen[w].slots);
	}
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
