/* Reads the allocations of a run. */
#include "cli/compat/tb/tb_memory.h"
#include "cli/model/map.h"
#include "cli/model/model.h"

#include <stdlib.h>

/* PyTorch's numbers of kinds of devices (c10::DeviceType); the plugin reads only these two. */
#define TORCH_CPU  0u
#define TORCH_CUDA 1u

struct alloc_columns {
	const int64_t *start, *bytes;
	const uint64_t *allocated, *reserved;
	const uint32_t *thread, *device_type, *flags, *process;
	const int32_t *device;
};

static bool columns_read(struct alloc_columns *c, struct model *m)
{
	return (c->start = MODEL_I64(m, alloc, start)) && (c->bytes = MODEL_I64(m, alloc, bytes)) &&
	       (c->allocated = MODEL_U64(m, alloc, allocated)) && (c->reserved = MODEL_U64(m, alloc, reserved)) &&
	       (c->thread = MODEL_U32(m, alloc, thread)) && (c->device_type = MODEL_U32(m, alloc, device_type)) &&
	       (c->flags = MODEL_U32(m, alloc, flags)) && (c->device = MODEL_I32(m, alloc, device)) &&
	       (c->process = model_row_process(m, ROW_alloc));
}

static void note_device(struct tb_allocs *a, uint32_t device)
{
	for (size_t k = 0; k < a->n_devices; k++)
		if (a->devices[k] == device)
			return;
	if (a->n_devices < sizeof a->devices / sizeof *a->devices)
		a->devices[a->n_devices++] = device;
	else
		a->elsewhere++;
}

static void take_row(struct tb_allocs *a, struct model *m, const struct alloc_columns *c, size_t i, const struct map *threads, size_t others)
{
	const struct thread *t = model_thread(m, c->process[i], c->thread[i]);
	uint32_t at = map_get(threads, t ? t->row.tid : 0);
	bool cpu = c->device_type[i] == TORCH_CPU;

	if (!cpu && (c->device_type[i] != TORCH_CUDA || c->device[i] < 0))
		return;
	a->list[a->n] = (struct tb_alloc){
		.time = c->start[i], .bytes = c->bytes[i], .allocated = c->allocated[i], .reserved = c->reserved[i],
		.device = cpu ? TB_CPU_MEMORY : (uint32_t)c->device[i], .thread = at == MAP_NONE ? (uint32_t)others : at,
		.totals = (c->flags[i] & ALLOC_TOTALS) != 0,
	};
	note_device(a, a->list[a->n++].device);
}

/* Sorts by thread, then by time: two stable sorts in linear time.  Returns 0, or -1 when out of memory. */
static int sort(struct tb_allocs *a, size_t n_threads)
{
	struct timed *order = malloc((a->n + 1) * sizeof *order);
	struct tb_alloc *sorted = malloc((a->n + 1) * sizeof *sorted);
	size_t *next = calloc(n_threads + 2, sizeof *next);
	int rc = order && sorted && next ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < a->n; i++)
		order[i] = (struct timed){ .time = a->list[i].time, .row = (uint32_t)i };
	if (rc == 0)
		rc = timed_sort(order, a->n);
	for (size_t i = 0; rc == 0 && i < a->n; i++)
		next[a->list[i].thread + 1]++;
	for (size_t k = 0; rc == 0 && k <= n_threads; k++) {
		next[k + 1] += next[k];
		a->first[k] = next[k];
	}
	for (size_t i = 0; rc == 0 && i < a->n; i++) {
		const struct tb_alloc *one = &a->list[order[i].row];

		sorted[next[one->thread]++] = *one;
	}
	if (rc == 0) {
		free(a->list);
		a->list = sorted;
		sorted = NULL;
	}
	free(order);
	free(sorted);
	free(next);
	return rc;
}

int tb_allocs_make(struct tb_allocs *a, const struct tb_run *r, const uint32_t *tids, size_t n_tids)
{
	struct map threads = { 0 };
	struct alloc_columns c = { 0 };
	size_t n = model_rows(r->m, ROW_alloc);
	int rc = columns_read(&c, r->m) ? 0 : -1;

	*a = (struct tb_allocs){ .list = malloc((n + 1) * sizeof *a->list), .first = calloc(n_tids + 2, sizeof *a->first) };
	for (uint32_t k = 0; rc == 0 && k < n_tids; k++)
		rc = map_set(&threads, tids[k], k) ? 0 : -1;
	rc = a->list && a->first ? rc : -1;
	n = rc == 0 ? model_rows(r->m, ROW_alloc) : 0;
	for (size_t i = 0; i < n; i++)
		if (c.process[i] >= r->first_process && c.process[i] < r->first_process + r->n_processes)
			take_row(a, r->m, &c, i, &threads, n_tids);
	map_release(&threads);
	return rc == 0 ? sort(a, n_tids) : -1;
}

void tb_allocs_note(const struct tb_allocs *a, const struct tb_run *r, struct table *t)
{
	if (a->elsewhere)
		table_note(t, "%s: allocations on devices after the first %u are left out: %zu", r->worker, TB_MEMORY_DEVICES,
			   a->elsewhere);
}

void tb_allocs_release(struct tb_allocs *a)
{
	free(a->list);
	free(a->first);
	*a = (struct tb_allocs){ 0 };
}

struct tb_peak tb_peak_of(const struct tb_allocs *a, uint32_t device)
{
	struct tb_peak p = { 0 };

	for (size_t i = 0; i < a->n; i++) {
		const struct tb_alloc *one = &a->list[i];

		if (one->device != device || !one->totals)
			continue;
		p.known = true;
		p.allocated = one->allocated > p.allocated ? one->allocated : p.allocated;
		p.reserved = one->reserved > p.reserved ? one->reserved : p.reserved;
	}
	return p;
}

const char *tb_memory_device(struct table *t, uint32_t device)
{
	return device == TB_CPU_MEMORY ? "CPU" : table_keep(t, "GPU%u", device);
}
