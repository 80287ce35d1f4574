/* torch_memory: allocations and frees of PyTorch's allocators, by process and device, and their peak. */
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"
#include "trace/grow.h"

#include <stdlib.h>

#define TOTALS_KNOWN 1u         /* alloc.flags */

static const struct heading columns[] = {
	{ "process", COLUMN_ID | COLUMN_RARE }, { "device", COLUMN_TEXT | COLUMN_KEY }, { "allocations", COLUMN_RARE },
	{ "frees", COLUMN_RARE }, { "allocated_bytes", COLUMN_RARE }, { "largest_bytes", 0 }, { "peak_bytes", COLUMN_KEY },
	{ "peak_at_ns", 0 }, { "peak_reserved_bytes", 0 }, { "left_bytes", 0 }, { "peak_in", COLUMN_TEXT | COLUMN_KEY },
};

struct allocator_usage {
	uint32_t process, type;
	int32_t device;
	uint64_t allocations, frees, total, largest, peak, reserved;
	int64_t peak_at, balance;               /* balance: bytes allocated minus freed in the trace */
	uint64_t left, peak_range;              /* peak_range: id of the range at the peak */
	bool known;                             /* rows have the allocator's totals of the device */
};

struct memory_rows {
	const int64_t *start, *bytes;
	const uint64_t *allocated, *reserved, *range;
	const uint32_t *type, *flags, *process;
	const int32_t *device;
	size_t n;
};

static bool rows_read(struct model *m, struct memory_rows *r)
{
	r->n = model_rows(m, ROW_alloc);
	return (r->start = MODEL_I64(m, alloc, start)) && (r->bytes = MODEL_I64(m, alloc, bytes)) &&
	       (r->allocated = MODEL_U64(m, alloc, allocated)) && (r->reserved = MODEL_U64(m, alloc, reserved)) &&
	       (r->range = MODEL_U64(m, alloc, range)) && (r->type = MODEL_U32(m, alloc, device_type)) &&
	       (r->flags = MODEL_U32(m, alloc, flags)) && (r->device = MODEL_I32(m, alloc, device)) &&
	       (r->process = model_row_process(m, ROW_alloc));
}

static void count(struct allocator_usage *u, const struct memory_rows *r, size_t i)
{
	uint64_t now;

	if (r->bytes[i] >= 0) {
		u->allocations++;
		u->total += (uint64_t)r->bytes[i];
		if ((uint64_t)r->bytes[i] > u->largest)
			u->largest = (uint64_t)r->bytes[i];
	} else {
		u->frees++;
	}
	u->balance = time_add(u->balance, r->bytes[i]);
	u->known |= r->flags[i] & TOTALS_KNOWN;
	now = r->flags[i] & TOTALS_KNOWN ? r->allocated[i] : u->balance > 0 ? (uint64_t)u->balance : 0;
	if (now > u->peak) {
		u->peak = now;
		u->peak_at = r->start[i];
		u->peak_range = r->range[i];
	}
	if (r->reserved[i] > u->reserved)
		u->reserved = r->reserved[i];
	u->left = now;
}

/* The name of a range of a process, by its id; NULL: not in the trace. */
static const char *range_name(struct model *m, uint32_t process, uint64_t range)
{
	const uint64_t *id = MODEL_U64(m, range, id);
	const uint32_t *name = MODEL_U32(m, range, name), *of = model_row_process(m, ROW_range);

	for (size_t i = 0; range && id && name && of && i < model_rows(m, ROW_range); i++)
		if (id[i] == range && of[i] == process)
			return model_string(m, name[i]);
	return NULL;
}

static void print(struct model *m, struct table *t, const struct allocator_usage *u, size_t n)
{
	static const char *const types[] = { "cpu", "cuda" };

	for (size_t i = 0; i < n; i++) {
		const char *in = range_name(m, u[i].process, u[i].peak_range);
		const char *type = u[i].type < sizeof types / sizeof *types ? types[u[i].type] : "device";

		table_row(t, (const struct cell[]){
				     NUMBER(u[i].process), TEXT(u[i].device < 0 ? type : table_keep(t, "%s:%d", type, u[i].device)),
				     NUMBER(u[i].allocations), NUMBER(u[i].frees), NUMBER(u[i].total), NUMBER(u[i].largest),
				     NUMBER(u[i].peak), NUMBER(time_sub(u[i].peak_at, model_start(m))),
				     u[i].known ? NUMBER(u[i].reserved) : UNKNOWN, NUMBER(u[i].left), in ? TEXT(in) : UNKNOWN });
	}
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct allocator_usage *list = NULL;
	struct timed *order = NULL;
	struct map index = { 0 };
	struct memory_rows r;
	size_t cap = 0;
	int rc = -1;

	(void)variant;
	if (!rows_read(m, &r) || !(order = malloc(r.n * sizeof *order + 1)))
		goto out;
	for (size_t k = 0; k < r.n; k++)
		order[k] = (struct timed){ .time = r.start[k], .row = (uint32_t)k };
	if (timed_sort(order, r.n) < 0)
		goto out;
	for (size_t k = 0; k < r.n; k++) {
		size_t i = order[k].row;
		uint64_t key = (uint64_t)r.process[i] << 32 | (uint64_t)(r.type[i] & 0xffff) << 16 | (uint16_t)r.device[i];
		uint32_t *at;
		bool new;

		if (!GROW(list, index.n + 1, cap))
			goto out;
		at = map_put(&index, key, (uint32_t)index.n, &new);
		if (!at)
			goto out;
		if (new)
			list[*at - 1] = (struct allocator_usage){ .process = r.process[i], .type = r.type[i], .device = r.device[i],
							.peak_at = r.start[i] };
		count(&list[*at - 1], &r, i);
	}
	print(m, t, list, index.n);
	if (!r.n)
		table_note(t, "no memory rows of PyTorch: %s",
			   why_lacks(m, "--torch-memory records its CUDA allocator", "torch.profiler records it with profile_memory=True"));
	rc = 0;
out:
	map_release(&index);
	free(order);
	free(list);
	return rc;
}

const struct report report_torch_memory = {
	.name = "torch_memory",
	.title = "PyTorch Memory",
	.help = "What is the peak memory of PyTorch's allocator on each device, when was it reached and in which range?",
	.needs = NEED_ALLOC,
	COLUMNS(columns),
	.run = run,
};
